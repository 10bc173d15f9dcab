import { parseArgs } from 'node:util'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { readEnvironment } from '../process/config.ts'
import { openStore } from '../process/store.ts'
import { createCipher } from '../secrets/cipher.ts'
import { forget } from '../secrets/delete-undecryptable.ts'
import type { Count } from '../secrets/encrypted-columns.ts'
import { countSealed } from '../secrets/encrypted-columns.ts'
import { secretsKeysOf } from '../secrets/keys.ts'
import { reencrypt } from '../secrets/reencrypt.ts'
import { confirm, refuseUnasked } from './confirm.ts'
import { table } from './table.ts'

const usage = `  npm run -s secrets -- check
  npm run -s secrets -- rotate
  npm run -s secrets -- forget [--yes]`

/** What is sealed with which key of SECRETS_KEY; sealing it with the first; removing what none of them opens. */
async function main() {
  const { action, yes } = readArguments()
  const config = readEnvironment()
  if (action === 'forget') refuseUnasked(yes)
  const cipher = createCipher(await secretsKeysOf(config))
  const { db, close } = await openStore(config, () => {})
  try {
    if (action === 'forget') await remove(db, cipher, yes)
    else {
      if (action === 'rotate') say(`Sealed anew with the first key: ${values(await reencrypt(db, cipher))}\n`)
      await show(db, cipher)
    }
  } finally {
    await close()
  }
}

function readArguments() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { yes: { type: 'boolean' } } })
  const [action, ...more] = positionals
  if ((action !== 'check' && action !== 'rotate' && action !== 'forget') || more.length > 0) {
    throw new Error(`What to do is one word, check, rotate or forget:\n${usage}`)
  }
  if (action !== 'forget' && values.yes) throw new Error(`--yes is for forget:\n${usage}`)
  return { action, yes: values.yes === true }
}

/** Says with which keys what is sealed; what none of them opens is an error. */
async function show(db: Database, cipher: Cipher) {
  const counts = await countSealed(db, cipher)
  say(tableOf(counts))
  const lost = lostOf(counts)
  if (lost > 0) throw new Error(`No key of SECRETS_KEY opens ${values(lost)}.`)
}

async function remove(db: Database, cipher: Cipher, yes: boolean) {
  const counts = await countSealed(db, cipher)
  say(tableOf(counts))
  if (lostOf(counts) === 0) return say('There is nothing that no key opens.\n')
  say(
    'To be removed is what no key opens: signing keys, and templates with their address; such subscriptions end.\n' +
      'Where somebody still has the key, add it to SECRETS_KEY instead.\n',
  )
  await confirm('forget', yes)
  const gone = await forget(db, cipher, new Date())
  say(`Removed: templates ${gone.templates}, subscriptions ${gone.subscriptions}, signing keys ${gone.signingKeys}\n`)
}

const lostOf = (counts: readonly Count[]) => counts.reduce((sum, { none }) => sum + none, 0)

const tableOf = (counts: readonly Count[]) =>
  table([
    ['SEALED', 'FIRST KEY', 'ANOTHER KEY', 'NO KEY'].map((head) => [head]),
    ...counts.map(({ name, first, other, none }) => [[name], [String(first)], [String(other)], [String(none)]]),
  ])

const values = (count: number) => (count === 1 ? '1 value' : `${count} values`)

const say = (text: string) => void process.stdout.write(text)

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
