import { parseArgs } from 'node:util'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { makeKey, PUBLISH_MS, readKeys, removeRetired } from '../oauth/keys.ts'
import { readEnvironment } from '../process/config.ts'
import { openStore } from '../process/store.ts'
import { createCipher } from '../secrets/cipher.ts'
import { secretsKeysOf } from '../secrets/keys.ts'

const usage = '  npm run -s keys -- list\n  npm run -s keys -- rotate [--now]'

/** The keys that sign access tokens: which there are, and a new one. */
async function main() {
  const { action, atOnce } = readArguments()
  const config = readEnvironment()
  if (config.tokenIssuer !== undefined) {
    throw new Error(`TOKEN_ISSUER is set: ${config.tokenIssuer} issues the tokens, and has the keys.`)
  }
  const cipher = createCipher(await secretsKeysOf(config))
  const { db, close } = await openStore(config, () => {})
  try {
    if (action === 'rotate') await rotate(db, cipher, atOnce)
    await list(db, cipher)
  } finally {
    await close()
  }
}

function readArguments() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { now: { type: 'boolean' } } })
  const [action, ...more] = positionals
  if ((action !== 'rotate' && action !== 'list') || more.length > 0) {
    throw new Error(`What to do is one word, list or rotate:\n${usage}`)
  }
  if (action === 'list' && values.now) throw new Error(`--now is for rotate:\n${usage}`)
  return { action, atOnce: values.now === true }
}

/** The new key is published at once, and signs once every node has read it. */
async function rotate(db: Database, cipher: Cipher, atOnce: boolean) {
  const key = await makeKey(cipher, new Date(Date.now() + (atOnce ? 0 : PUBLISH_MS)))
  await db.signingKey.create({ data: key })
  await removeRetired({ db, cipher, now: Date.now })
}

async function list(db: Database, cipher: Cipher) {
  const now = Date.now()
  const keys = await readKeys({ db, cipher })
  const signing = keys.find(({ jwk, signsFrom }) => jwk && signsFrom.getTime() <= now)
  for (const key of keys) {
    const { kid, signsFrom, jwk } = key
    const state = () => {
      if (!jwk) return 'sealed with another SECRETS_KEY'
      if (key === signing) return 'signs'
      return signsFrom.getTime() > now ? 'will sign' : 'verifies what it has signed'
    }
    process.stdout.write(`${kid}  from ${signsFrom.toISOString()}  ${state()}\n`)
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
