import type { Database } from '../../prisma/client.ts'
import type { Amount, StorageOwner } from '../admin/storage-owners.ts'
import { erase, findMissing, usageOf } from '../admin/storage-owners.ts'
import { readSettings } from '../process/command-settings.ts'
import { flag, parseAction, text } from './arguments.ts'
import type { Io } from './command.ts'
import { command, UsageError } from './command.ts'
import { confirm, requireConfirmation } from './confirmation.ts'
import { withDatabase } from './database.ts'

const usage = `Usage:
  npm run -s storage -- usage --app trainer-app --club riverside
  npm run -s storage -- erase --app trainer-app --club riverside [--member anna] [--yes]
`

const actions = {
  usage: { app: text, club: text },
  erase: { app: text, club: text, member: text, yes: flag },
} as const

export const run = command(usage, async (argv, io) => {
  const { action, values } = parseAction(argv, actions)
  const { app, club } = values
  if (!app || !club) throw new UsageError('--app and --club are required.')
  const { storageQuotaBytes } = readSettings(io.env, 'storageQuotaBytes')
  if (action === 'usage') {
    await withDatabase(io, (db) => show(db, { app, club }, storageQuotaBytes, io))
  } else {
    const confirmation = { ...io, yes: values.yes }
    requireConfirmation(confirmation)
    await withDatabase(io, (db) => remove(db, { app, club, member: values.member }, confirmation))
  }
})

async function show(db: Database, owner: StorageOwner, quotaBytes: number, { stdout }: Io) {
  await requireExisting(db, owner)
  const { bytes, lines } = await describe(db, owner)
  stdout.write(`${owner.app} in ${owner.club}: ${bytes} of ${quotaBytes} bytes\n${lines}`)
}

async function remove(db: Database, owner: StorageOwner, io: Io & { yes: boolean | undefined }) {
  await requireExisting(db, owner)
  const { app, club, member } = owner
  const { lines } = await describe(db, owner)
  const entries = member === undefined ? 'all entries' : `${member}'s own entries`
  io.stdout.write(`To be removed of ${app} in ${club}, ${entries}:\n${lines}`)
  await confirm(app, io)
  io.stdout.write(`Removed: ${amount(await erase(db, owner))}\n`)
}

async function requireExisting(db: Database, owner: StorageOwner) {
  const missing = await findMissing(db, owner)
  if (missing === 'app') throw new Error(`App ${owner.app} does not exist.`)
  if (missing === 'club') throw new Error(`Club ${owner.club} does not exist.`)
  if (missing === 'member') throw new Error(`Member ${owner.member} does not exist in ${owner.club}.`)
}

/** Bytes are those of the whole storage; with a member, the entries are that member's only. */
async function describe(db: Database, owner: StorageOwner) {
  const { bytes, shared, own, members } = await usageOf(db, owner)
  const ownLine = `  members' own: ${amount(own)}, ${members === 1 ? '1 member' : `${members} members`}\n`
  return { bytes, lines: owner.member === undefined ? `  shared: ${amount(shared)}\n${ownLine}` : ownLine }
}

const amount = ({ entries, bytes }: Amount) => `${entries} ${entries === 1 ? 'entry' : 'entries'}, ${bytes} bytes`
