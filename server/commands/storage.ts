import { parseArgs } from 'node:util'
import type { Database } from '../../prisma/client.ts'
import type { Amount, StorageOwner } from '../admin/storage-owners.ts'
import { erase, findMissing, usageOf } from '../admin/storage-owners.ts'
import { readEnvironment } from '../process/config.ts'
import { openStore } from '../process/store.ts'
import { confirm, refuseUnasked } from './confirm.ts'

const usage = `  npm run -s storage -- usage --app trainer-app --club riverside
  npm run -s storage -- erase --app trainer-app --club riverside [--member anna] [--yes]`

/** What the storage of an app in a club holds, and the removal of it. */
async function main() {
  const { action, holder, yes } = readArguments()
  const config = readEnvironment()
  if (action === 'erase') refuseUnasked(yes)
  const { db, close } = await openStore(config, () => {})
  try {
    await refuseUnknown(db, holder)
    if (action === 'usage') await show(db, holder, config.storageQuotaBytes)
    else await remove(db, holder, yes)
  } finally {
    await close()
  }
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      app: { type: 'string' },
      club: { type: 'string' },
      member: { type: 'string' },
      yes: { type: 'boolean', default: false },
    },
  })
  const { app, club, member, yes } = values
  const [action, ...more] = positionals
  if ((action !== 'usage' && action !== 'erase') || more.length > 0) {
    throw new Error(`What to do is one word, usage or erase:\n${usage}`)
  }
  if (!app || !club) throw new Error(`--app and --club are needed:\n${usage}`)
  if (action === 'usage' && (member !== undefined || yes)) {
    throw new Error(`--member and --yes are for erase:\n${usage}`)
  }
  // As an unset variable of a script leaves it: taken for none, it would remove everybody's.
  if (member === '') throw new Error(`--member is empty:\n${usage}`)
  return { action, holder: { app, club, member }, yes }
}

async function refuseUnknown(db: Database, { app, club, member }: StorageOwner) {
  const unknown = await findMissing(db, { app, club, member })
  if (unknown === 'app') throw new Error(`There is no app ${app}.`)
  if (unknown === 'club') throw new Error(`There is no club ${club}.`)
  if (unknown === 'member') throw new Error(`There is no member ${member} in ${club}.`)
}

/** With a member, only theirs. */
async function contents(db: Database, holder: StorageOwner) {
  const { bytes, shared, own, members } = await usageOf(db, holder)
  const theirs = `  members' own: ${amount(own)}, ${members === 1 ? '1 member' : `${members} members`}\n`
  return { bytes, lines: holder.member === undefined ? `  shared: ${amount(shared)}\n${theirs}` : theirs }
}

async function show(db: Database, holder: StorageOwner, quotaBytes: number) {
  const { bytes, lines } = await contents(db, holder)
  process.stdout.write(`${holder.app} in ${holder.club}: ${bytes} of ${quotaBytes} bytes\n${lines}`)
}

async function remove(db: Database, holder: StorageOwner, yes: boolean) {
  const { app, club, member } = holder
  const { lines } = await contents(db, holder)
  process.stdout.write(
    `To be removed of ${app} in ${club}${member === undefined ? '' : `, ${member}'s alone`}:\n${lines}`,
  )
  await confirm(app, yes)
  process.stdout.write(`Removed: ${amount(await erase(db, holder))}\n`)
}

const amount = ({ entries, bytes }: Amount) => `${entries} ${entries === 1 ? 'entry' : 'entries'}, ${bytes} bytes`

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
