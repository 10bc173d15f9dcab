import { Option } from '@commander-js/extra-typings'
import type { Database } from '../../../prisma/client.ts'
import type { Cipher } from '../../../routers/kernel/cipher.ts'
import {
  algorithms,
  deleteRetiredKeys,
  insertKey,
  kindNames,
  kinds,
  makeKey,
  readKeys,
  revokeKey,
} from '../../oauth/keys/signing-key-store.ts'
import { readSettings, secretsSettings } from '../../process/command-settings.ts'
import { createCipher } from '../../secrets/cipher.ts'
import { openSecrets, readSecretsKeys } from '../../secrets/keys.ts'
import type { Command, Io } from '../line/command.ts'
import { action, log } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { openRemovalLog } from '../removals/removal-log.ts'

function readOwnIssuer(io: Io) {
  const config = readSettings(io.env, 'tokenIssuer', ...secretsSettings)
  if (config.tokenIssuer !== undefined) {
    throw new Error(`TOKEN_ISSUER is set: ${config.tokenIssuer} issues the tokens and has their keys.`)
  }
  return config
}

/** Throws when the key is not this database's: no node could use what it encrypts. */
async function withKeys<Result>(io: Io, use: (db: Database, cipher: Cipher) => Promise<Result>): Promise<Result> {
  const config = readOwnIssuer(io)
  return withDatabase(io, async (db) => use(db, (await openSecrets(config, db)).cipher))
}

/** All keys are printed after each action. */
const keys = {
  json: '[{ id, algorithm, use, signsFrom, state }]',
  text: (keys: Awaited<ReturnType<typeof listed>>) =>
    keys
      .map(
        ({ id, algorithm, use, signsFrom, state }) =>
          `${id}  ${algorithm}${use === 'cards' ? ' for cards' : ''}  from ${signsFrom.toISOString()}  ${state}\n`,
      )
      .join(''),
}

const list = action(
  {
    about: 'lists the keys',
    async run(_values, io) {
      const cipher = createCipher(await readSecretsKeys(readOwnIssuer(io)))
      return withDatabase(io, (db) => listed(db, cipher))
    },
  },
  keys,
)

const rotate = action(
  {
    about: 'adds a key, which signs two minutes later, or for cards a day later',
    declare: (line) =>
      line
        .option('--now', 'signs with the new key at once, before other nodes have read it')
        .addOption(new Option('--algorithm <ALGORITHM>', 'by default ES256').choices(algorithms))
        .addOption(new Option('--cards', 'a key for the codes of member cards').conflicts('algorithm')),
    async run({ now, algorithm = 'ES256', cards }, io) {
      const kind = cards ? 'card' : algorithm
      return withKeys(io, async (db, cipher) => {
        // Published at once, and signs after the delay, when every node has read it.
        const key = await makeKey(cipher, new Date(Date.now() + (now ? 0 : kinds[kind].publishMs)), kind)
        await insertKey(db, kind, key)
        await deleteRetiredKeys({ db, cipher, now: Date.now })
        return listed(db, cipher)
      })
    },
  },
  keys,
)

const revoke = action(
  {
    about: 'ends a key at once, with every token or code that it has signed',
    declare: (line) => line.argument('<ID>', 'the id of a key; after -- if it begins with -').option(...log),
    async run(values, io, [key]) {
      readOwnIssuer(io)
      const log = await openRemovalLog(io, values.log)
      const done = withKeys(io, async (db, cipher) => {
        if (!(await revokeKey({ db, cipher, now: Date.now }, key!))) throw new Error(`Key ${key} does not exist.`)
        await log.write({ repeat: 'key.revoke', key: key! })
        return listed(db, cipher)
      })
      return done.finally(log.close)
    },
  },
  keys,
)

async function listed(db: Database, cipher: Cipher) {
  const now = Date.now()
  const keys = await readKeys({ db, cipher })
  const signing = kindNames.map((kind) =>
    keys.find((key) => key.kind === kind && key.jwk && key.signsFrom.getTime() <= now),
  )
  const describeState = (key: (typeof keys)[number]) => {
    if (!key.jwk) return 'encrypted with another SECRETS_KEY'
    if (signing.includes(key)) return 'signs'
    return key.signsFrom.getTime() > now ? 'will sign' : 'verifies what it has signed'
  }
  return keys.map((key) => ({
    id: key.kid,
    algorithm: kinds[key.kind].algorithm,
    use: key.kind === 'card' ? 'cards' : 'tokens',
    signsFrom: key.signsFrom,
    state: describeState(key),
  }))
}

export const command: Command = {
  about: `The keys that sign tokens: ES256 for access tokens and ID tokens, RS256 for the ID tokens of clients that ask for it;
and those that sign the codes of member cards. A new one is published at once.`,
  actions: { list, rotate, revoke },
  examples: ['keys rotate', 'keys list', 'keys rotate --now --json'],
}
