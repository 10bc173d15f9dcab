import { readSettings, secretsSettings } from '../../process/command-settings.ts'
import { createCipher } from '../../secrets/cipher.ts'
import { deleteUndecryptable } from '../../secrets/delete-undecryptable.ts'
import type { KeyCounts } from '../../secrets/encrypted-columns.ts'
import { countByKey } from '../../secrets/encrypted-columns.ts'
import { readSecretsKeys } from '../../secrets/keys.ts'
import { reencrypt } from '../../secrets/reencrypt.ts'
import type { Command, Io } from '../line/command.ts'
import { action, yes } from '../line/command.ts'
import { confirm, requireConfirmation } from '../line/confirmation.ts'
import { withDatabase } from '../line/database.ts'
import { table } from '../line/table.ts'

/** Throws when a setting is wrong. */
const openCipher = async (io: Io) => createCipher(await readSecretsKeys(readSettings(io.env, ...secretsSettings)))

/** Fails when there are values that no key decrypts. */
const fault = ({ columns }: { columns: readonly KeyCounts[] }) => {
  const lost = countLost(columns)
  return lost > 0 ? `No key of SECRETS_KEY decrypts ${formatValueCount(lost)}.` : undefined
}

const check = action(
  {
    about: 'counts the stored secrets by the key of SECRETS_KEY that decrypts them',
    async run(_values, io) {
      const cipher = await openCipher(io)
      return withDatabase(io, async (db) => ({ columns: await countByKey(db, cipher) }))
    },
  },
  { json: '{ columns }', text: ({ columns }) => formatTable(columns), fault },
)

const rotate = action(
  {
    about: 're-encrypts the values of the other keys with the first key',
    async run(_values, io) {
      const cipher = await openCipher(io)
      return withDatabase(io, async (db) => ({
        reencrypted: await reencrypt(db, cipher),
        columns: await countByKey(db, cipher),
      }))
    },
  },
  {
    json: '{ reencrypted, columns }',
    text: ({ reencrypted, columns }) =>
      `Encrypted with the first key: ${formatValueCount(reencrypted)}\n${formatTable(columns)}`,
    fault,
  },
)

const forget = action(
  {
    about: 'deletes values that no key decrypts',
    declare: (line) => line.option(...yes),
    async run({ yes }, io) {
      requireConfirmation({ ...io, yes })
      const cipher = await openCipher(io)
      return withDatabase(io, async (db) => {
        const counts = await countByKey(db, cipher)
        if (countLost(counts) === 0) {
          io.stdout.write(formatTable(counts))
          return { templates: 0, subscriptions: 0, formerSecrets: 0, signingKeys: 0 }
        }
        const list =
          formatTable(counts) +
          'To be removed, as no key decrypts them: signing keys, webhook templates with their addresses, subscriptions,\n' +
          'which end, and former secrets. If the key still exists somewhere, add it to SECRETS_KEY instead.\n'
        await confirm('forget', list, { ...io, yes })
        return deleteUndecryptable(db, cipher, new Date())
      })
    },
  },
  {
    json: '{ templates, subscriptions, formerSecrets, signingKeys }',
    text: ({ templates, subscriptions, formerSecrets, signingKeys }) =>
      templates + subscriptions + formerSecrets + signingKeys === 0
        ? 'The keys decrypt everything: nothing to remove.\n'
        : `Removed: templates ${templates}, subscriptions ${subscriptions}, former secrets ${formerSecrets}, signing keys ${signingKeys}\n`,
  },
)

const countLost = (counts: readonly KeyCounts[]) => counts.reduce((sum, { none }) => sum + none, 0)

const formatTable = (counts: readonly KeyCounts[]) =>
  table([
    ['COLUMN', 'FIRST KEY', 'ANOTHER KEY', 'NO KEY'].map((head) => [head]),
    ...counts.map(({ name, first, other, none }) => [[name], [String(first)], [String(other)], [String(none)]]),
  ])

const formatValueCount = (count: number) => (count === 1 ? '1 value' : `${count} values`)

export const command: Command = {
  about: 'check and rotate exit with 1 when there are values that no key decrypts.',
  actions: { check, rotate, forget },
  examples: ['secrets check', 'secrets rotate --json', 'secrets forget --yes'],
}
