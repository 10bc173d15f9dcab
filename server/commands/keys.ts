import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { deleteRetiredKeys, makeKey, PUBLISH_MS, readKeys, revokeKey } from '../oauth/signing-key-store.ts'
import { ofSecrets, readSettings } from '../process/command-settings.ts'
import { createCipher } from '../secrets/cipher.ts'
import { secretsKeysOf } from '../secrets/keys.ts'
import { flag, parseAction, text } from './arguments.ts'
import { command, UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { openRemovalLog } from './removal-log.ts'

const usage = `Usage:
  npm run -s keys -- list
  npm run -s keys -- rotate [--now]
  npm run -s keys -- revoke ID [--log FILE]
`

export const run = command(usage, async (argv, io) => {
  const { action, values } = parseAction(withNamedId(argv), {
    list: {},
    rotate: { now: flag },
    revoke: { id: text, log: text },
  })
  if (action === 'revoke' && !values.id) throw new UsageError('The id of a key is required.')
  const config = readSettings(io.env, 'tokenIssuer', ...ofSecrets)
  if (config.tokenIssuer !== undefined) {
    throw new Error(`TOKEN_ISSUER is set: ${config.tokenIssuer} issues the tokens and has their keys.`)
  }
  const cipher = createCipher(await secretsKeysOf(config))
  const log = await openRemovalLog(io, action === 'revoke' ? values.log : undefined)
  const done = withDatabase(io, async (db) => {
    if (action === 'rotate') await rotate(db, cipher, values.now ? 0 : PUBLISH_MS)
    if (action === 'revoke') {
      const key = values.id!
      if (!(await revokeKey({ db, cipher, now: Date.now }, key))) throw new Error(`Key ${key} does not exist.`)
      await log.write({ repeat: 'key.revoke', key })
    }
    io.stdout.write(await list(db, cipher))
  })
  await done.finally(log.close)
})

/** `revoke ID` as `revoke --id ID`. */
const withNamedId = (argv: readonly string[]) =>
  argv[0] === 'revoke' && argv[1]?.startsWith('-') === false ? ['revoke', '--id', ...argv.slice(1)] : argv

/** The new key is published at once and signs after the delay, when every node has read it. */
async function rotate(db: Database, cipher: Cipher, delayMs: number) {
  const key = await makeKey(cipher, new Date(Date.now() + delayMs))
  await db.signingKey.create({ data: key })
  await deleteRetiredKeys({ db, cipher, now: Date.now })
}

async function list(db: Database, cipher: Cipher) {
  const now = Date.now()
  const keys = await readKeys({ db, cipher })
  const signing = keys.find(({ jwk, signsFrom }) => jwk && signsFrom.getTime() <= now)
  const stateOf = (key: (typeof keys)[number]) => {
    if (!key.jwk) return 'encrypted with another SECRETS_KEY'
    if (key === signing) return 'signs'
    return key.signsFrom.getTime() > now ? 'will sign' : 'verifies what it has signed'
  }
  return keys.map((key) => `${key.kid}  from ${key.signsFrom.toISOString()}  ${stateOf(key)}\n`).join('')
}
