import { randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import { exportJWK, generateKeyPair } from 'jose'
import type { Database, Transaction } from '../../../prisma/client.ts'
import { IdTokenAlgorithm } from '../../../prisma/generated/enums.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { bool, int, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import type { Cipher } from '../../../routers/kernel/cipher.ts'
import { associatedData } from '../../../routers/kernel/cipher.ts'
import { DAY_MS, unixMs } from '../../../routers/kernel/time.ts'
import { ACCESS_TOKEN_SECONDS } from './lifetimes.ts'

/** After this time, plus a query's, every node knows of a new or revoked key: less than 5 s together. */
export const RELOAD_MS = 3_000

/** A new key signs after this time, when every reader of the published keys has read it. */
export const PUBLISH_MS = 120_000

/** A retired key verifies until its last token has expired, with a margin for slow nodes and differing clocks. */
const RETIRED_MS = (ACCESS_TOKEN_SECONDS + 300) * 1000

export const algorithms = Object.values(IdTokenAlgorithm)

export interface SigningKey {
  kid: string
  algorithm: IdTokenAlgorithm
  createdAt: Date
  signsFrom: Date
  ciphertext: string
  /** The private JWK; null if it was encrypted with another SECRETS_KEY. */
  jwk: JWK | null
}

export interface SigningKeyStore {
  db: Database
  cipher: Cipher
  now: () => number
}

const selectKeys = statement(
  'signing_keys',
  `SELECT kid, algorithm, ciphertext, ${unixMs('"createdAt"')} AS "createdAt", ${unixMs('"signsFrom"')} AS "signsFrom",
      EXISTS (SELECT FROM "Client" WHERE "idTokenAlgorithm" = 'RS256') AS "needsRsa" FROM (
    SELECT kid, 'ES256' AS algorithm, ciphertext, "createdAt", "signsFrom" FROM "SigningKey"
    UNION ALL SELECT kid, 'RS256', ciphertext, "createdAt", "signsFrom" FROM "RsaSigningKey"
  ) signing ORDER BY algorithm, "signsFrom" DESC, kid`,
  {},
  { kid: text, algorithm: oneOf('ES256', 'RS256'), ciphertext: text, createdAt: int, signsFrom: int, needsRsa: bool },
)

const lock = statement('signing_keys_lock', 'LOCK TABLE "SigningKey" IN SHARE ROW EXCLUSIVE MODE', {}, {})

type Readable = Pick<SigningKeyStore, 'db' | 'cipher'>

/**
 * The latest `signsFrom` of each algorithm first, and whether a client has chosen RS256. One statement, as each node asks every
 * 3 s; `known` keys are not decrypted again.
 */
export async function readKeysAndNeed(
  { db, cipher }: Readable,
  known: readonly SigningKey[] = [],
): Promise<{ keys: SigningKey[]; needsRsa: boolean }> {
  const rows = await db.execute(selectKeys, {})
  const dates = rows.map(({ createdAt, signsFrom, needsRsa: _, ...row }) => ({
    ...row,
    createdAt: new Date(createdAt),
    signsFrom: new Date(signsFrom),
  }))
  return { keys: decrypted(dates, cipher, known), needsRsa: rows[0]?.needsRsa ?? false }
}

export const readKeys = async (store: Readable) => (await readKeysAndNeed(store)).keys

/** The algorithm's keys. The lock is on the keys of both. */
const readLockedKeys = async (tx: Transaction, cipher: Cipher, algorithm: IdTokenAlgorithm) => {
  await executeIn(tx, lock, {})
  const order = { orderBy: [{ signsFrom: 'desc' as const }, { kid: 'asc' as const }] }
  const rows = await (algorithm === 'ES256' ? tx.signingKey.findMany(order) : tx.rsaSigningKey.findMany(order))
  return decrypted(
    rows.map((row) => ({ ...row, algorithm })),
    cipher,
  )
}

const place = { ES256: associatedData.signingKey, RS256: associatedData.rsaSigningKey }

type Row = Omit<SigningKey, 'jwk'>

const decrypted = (rows: Row[], cipher: Cipher, known: readonly SigningKey[] = []): SigningKey[] =>
  rows.map((row) => ({ ...row, jwk: known.find((key) => isSame(key, row))?.jwk ?? decryptJwk(row, cipher) }))

const isSame = (a: Row, b: Row) => a.kid === b.kid && a.algorithm === b.algorithm && a.ciphertext === b.ciphertext

function decryptJwk({ kid, algorithm, ciphertext }: Row, cipher: Cipher): JWK | null {
  try {
    return JSON.parse(cipher.decrypt(ciphertext, place[algorithm](kid)))
  } catch {
    return null
  }
}

export async function makeKey(cipher: Cipher, signsFrom: Date, algorithm: IdTokenAlgorithm = 'ES256') {
  const kid = randomUUID()
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 })
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: algorithm, use: 'sig' }
  return { kid, ciphertext: cipher.encrypt(JSON.stringify(jwk), place[algorithm](kid)), signsFrom }
}

type MadeKey = Awaited<ReturnType<typeof makeKey>>

export const insertKey = (db: Database | Transaction, algorithm: IdTokenAlgorithm, data: MadeKey) =>
  algorithm === 'ES256' ? db.signingKey.create({ data }) : db.rsaSigningKey.create({ data })

export async function deleteKeys(db: Database | Transaction, kids: string[]): Promise<number> {
  const where = { kid: { in: kids } }
  return (await db.signingKey.deleteMany({ where })).count + (await db.rsaSigningKey.deleteMany({ where })).count
}

/**
 * Makes a key of each of these algorithms that has none. Nodes that start together wait for the lock and then find the keys. Those of
 * an installation that had none sign at once; a later one for RS256 is published before it signs: until then, ES256 does.
 */
export async function insertFirstKeys(store: SigningKeyStore, missing: readonly IdTokenAlgorithm[]): Promise<void> {
  const { db, cipher, now } = store
  const made = await Promise.all(
    missing.map(async (algorithm) => ({ algorithm, key: await makeKey(cipher, new Date(now()), algorithm) })),
  )
  await db.$transaction(async (tx) => {
    const stored = {
      ES256: await readLockedKeys(tx, cipher, 'ES256'),
      RS256: await readLockedKeys(tx, cipher, 'RS256'),
    }
    const isNew = stored.ES256.length === 0
    for (const { algorithm, key } of made) {
      if (stored[algorithm].some(({ jwk }) => jwk)) continue
      const waitMs = isNew || algorithm === 'ES256' ? 0 : PUBLISH_MS
      await insertKey(tx, algorithm, { ...key, signsFrom: new Date(key.signsFrom.getTime() + waitMs) })
    }
  })
}

/**
 * Deletes a key, whose tokens are then refused. If it is the signing key, a new one takes over. Returns false if it does not
 * exist.
 */
export async function revokeKey({ db, cipher, now }: SigningKeyStore, kid: string): Promise<boolean> {
  const algorithm = (await db.rsaSigningKey.count({ where: { kid } })) > 0 ? 'RS256' : 'ES256'
  const successor = await makeKey(cipher, new Date(now()), algorithm)
  return db.$transaction(async (tx) => {
    const keys = await readLockedKeys(tx, cipher, algorithm)
    const signing = keys.find(({ jwk, signsFrom }) => jwk && signsFrom.getTime() <= now())
    const count = await deleteKeys(tx, [kid])
    if (signing?.kid === kid) await insertKey(tx, algorithm, successor)
    return count > 0
  })
}

/** Publishes a new key of each algorithm once its newest has signed for `days`; it signs when every node and reader has it. */
export async function rotateOldKeys({ db, cipher, now }: SigningKeyStore, days: number): Promise<void> {
  const stored = await readKeys({ db, cipher })
  for (const algorithm of algorithms) {
    const isDue = (keys: SigningKey[]) => {
      const newest = keys.find((key) => key.jwk && key.algorithm === algorithm)
      return newest !== undefined && newest.signsFrom.getTime() + days * DAY_MS <= now()
    }
    if (!isDue(stored)) continue
    const key = await makeKey(cipher, new Date(now() + PUBLISH_MS), algorithm)
    await db.$transaction(async (tx) => {
      if (isDue(await readLockedKeys(tx, cipher, algorithm))) await insertKey(tx, algorithm, key)
    })
  }
}

export async function deleteRetiredKeys(store: SigningKeyStore): Promise<number> {
  const usable = (await readKeys(store)).filter(({ jwk }) => jwk)
  const retired = algorithms.flatMap((algorithm) => {
    const keys = usable.filter((key) => key.algorithm === algorithm)
    const successor = keys.findIndex(({ signsFrom }) => signsFrom.getTime() + RETIRED_MS <= store.now())
    return successor < 0 ? [] : keys.slice(successor + 1)
  })
  return retired.length > 0
    ? deleteKeys(
        store.db,
        retired.map(({ kid }) => kid),
      )
    : 0
}
