import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { ofSecrets, readSettings } from '../process/command-settings.ts'
import { createCipher } from '../secrets/cipher.ts'
import { deleteUndecryptable } from '../secrets/delete-undecryptable.ts'
import type { KeyCounts } from '../secrets/encrypted-columns.ts'
import { countByKey } from '../secrets/encrypted-columns.ts'
import { secretsKeysOf } from '../secrets/keys.ts'
import { reencrypt } from '../secrets/reencrypt.ts'
import { flag, parseAction } from './arguments.ts'
import type { Io } from './command.ts'
import { command } from './command.ts'
import { confirm, requireConfirmation } from './confirmation.ts'
import { withDatabase } from './database.ts'
import { table } from './table.ts'

const usage = `Usage:
  npm run -s secrets -- check           counts the stored secrets by the key of SECRETS_KEY that decrypts them
  npm run -s secrets -- rotate          re-encrypts the other keys' values with the first key
  npm run -s secrets -- forget [--yes]  deletes values that no key decrypts
`

export const run = command(usage, async (argv, io) => {
  const { action, values } = parseAction(argv, { check: {}, rotate: {}, forget: { yes: flag } })
  const config = readSettings(io.env, ...ofSecrets)
  if (action === 'forget') requireConfirmation({ ...io, yes: values.yes })
  const cipher = createCipher(await secretsKeysOf(config))
  await withDatabase(io, async (db) => {
    if (action === 'rotate') {
      io.stdout.write(`Encrypted with the first key: ${valuesOf(await reencrypt(db, cipher))}\n`)
    }
    if (action === 'forget') await forget(db, cipher, { ...io, yes: values.yes })
    else await show(db, cipher, io)
  })
})

/** Throws when there are values that no key decrypts. */
async function show(db: Database, cipher: Cipher, { stdout }: Io) {
  const counts = await countByKey(db, cipher)
  stdout.write(tableOf(counts))
  const lost = lostOf(counts)
  if (lost > 0) throw new Error(`No key of SECRETS_KEY decrypts ${valuesOf(lost)}.`)
}

async function forget(db: Database, cipher: Cipher, io: Io & { yes: boolean | undefined }) {
  const counts = await countByKey(db, cipher)
  io.stdout.write(tableOf(counts))
  if (lostOf(counts) === 0) {
    io.stdout.write('The keys decrypt everything: nothing to remove.\n')
    return
  }
  io.stdout.write(
    'To be removed, as no key decrypts them: signing keys, webhook templates with their addresses, and subscriptions,\n' +
      'which end. If the key still exists somewhere, add it to SECRETS_KEY instead.\n',
  )
  await confirm('forget', io)
  const { templates, subscriptions, signingKeys } = await deleteUndecryptable(db, cipher, new Date())
  io.stdout.write(`Removed: templates ${templates}, subscriptions ${subscriptions}, signing keys ${signingKeys}\n`)
}

const lostOf = (counts: readonly KeyCounts[]) => counts.reduce((sum, { none }) => sum + none, 0)

const tableOf = (counts: readonly KeyCounts[]) =>
  table([
    ['COLUMN', 'FIRST KEY', 'ANOTHER KEY', 'NO KEY'].map((head) => [head]),
    ...counts.map(({ name, first, other, none }) => [[name], [String(first)], [String(other)], [String(none)]]),
  ])

const valuesOf = (count: number) => (count === 1 ? '1 value' : `${count} values`)
