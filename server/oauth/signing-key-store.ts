import { randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import { exportJWK, generateKeyPair } from 'jose'
import type { Database, Transaction } from '../../prisma/client.ts'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { associatedData } from '../../routers/kernel/cipher.ts'
import { ACCESS_TOKEN_SECONDS } from './lifetimes.ts'

const DAY_MS = 86_400_000

/** After this time, plus a query's, every node knows of a new or revoked key: less than 5 s together. */
export const RELOAD_MS = 3_000

/** A new key signs after this time, when every reader of the published keys has read it. */
export const PUBLISH_MS = 120_000

/** A retired key verifies until its last token has expired, with a margin for slow nodes and differing clocks. */
const RETIRED_MS = (ACCESS_TOKEN_SECONDS + 300) * 1000

export interface SigningKey {
  kid: string
  createdAt: Date
  signsFrom: Date
  /** The private JWK; null if it was encrypted with another SECRETS_KEY. */
  jwk: JWK | null
}

export interface SigningKeyStore {
  db: Database
  cipher: Cipher
  now: () => number
}

const unixMs = (column: string) => `(extract(epoch FROM "${column}") * 1000)::int8 AS "${column}"`

const selectKeys = statement(
  'signing_keys',
  `SELECT kid, ciphertext, ${unixMs('createdAt')}, ${unixMs('signsFrom')}
  FROM "SigningKey" ORDER BY "signsFrom" DESC, kid`,
  { kid: text, ciphertext: text, createdAt: int, signsFrom: int },
)

/** The latest `signsFrom` first. */
export async function readKeys({ db, cipher }: Pick<SigningKeyStore, 'db' | 'cipher'>): Promise<SigningKey[]> {
  const rows = await db.execute(selectKeys, [])
  const dates = rows.map(({ createdAt, signsFrom, ...row }) => ({
    ...row,
    createdAt: new Date(createdAt),
    signsFrom: new Date(signsFrom),
  }))
  return decrypted(dates, cipher)
}

const readLockedKeys = async (tx: Transaction, cipher: Cipher) => {
  await tx.$executeRaw`LOCK TABLE "SigningKey" IN SHARE ROW EXCLUSIVE MODE`
  return decrypted(await tx.signingKey.findMany({ orderBy: [{ signsFrom: 'desc' }, { kid: 'asc' }] }), cipher)
}

const decrypted = (rows: (Omit<SigningKey, 'jwk'> & { ciphertext: string })[], cipher: Cipher): SigningKey[] =>
  rows.map(({ ciphertext, ...row }) => {
    try {
      return { ...row, jwk: JSON.parse(cipher.decrypt(ciphertext, associatedData.signingKey(row.kid))) as JWK }
    } catch {
      return { ...row, jwk: null }
    }
  })

export async function makeKey(cipher: Cipher, signsFrom: Date) {
  const kid = randomUUID()
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'ES256', use: 'sig' }
  return { kid, ciphertext: cipher.encrypt(JSON.stringify(jwk), associatedData.signingKey(kid)), signsFrom }
}

/** Nodes that start together wait for the lock and then find the key. */
export async function insertFirstKey({ db, cipher, now }: SigningKeyStore): Promise<void> {
  const key = await makeKey(cipher, new Date(now()))
  await db.$transaction(async (tx) => {
    const keys = await readLockedKeys(tx, cipher)
    if (keys.every(({ jwk }) => !jwk)) await tx.signingKey.create({ data: key })
  })
}

/**
 * Deletes a key, whose tokens are then refused. If it is the signing key, a new one takes over. Returns false if it does not
 * exist.
 */
export async function revokeKey({ db, cipher, now }: SigningKeyStore, kid: string): Promise<boolean> {
  const successor = await makeKey(cipher, new Date(now()))
  return db.$transaction(async (tx) => {
    const keys = await readLockedKeys(tx, cipher)
    const signing = keys.find(({ jwk, signsFrom }) => jwk && signsFrom.getTime() <= now())
    const { count } = await tx.signingKey.deleteMany({ where: { kid } })
    if (signing?.kid === kid) await tx.signingKey.create({ data: successor })
    return count > 0
  })
}

/** Publishes a new key once the newest has signed for `days`; it signs when every node and reader has it. */
export async function rotateOldKey({ db, cipher, now }: SigningKeyStore, days: number): Promise<void> {
  const isDue = (keys: SigningKey[]) => {
    const newest = keys.find(({ jwk }) => jwk)
    return newest !== undefined && newest.signsFrom.getTime() + days * DAY_MS <= now()
  }
  if (!isDue(await readKeys({ db, cipher }))) return
  const data = await makeKey(cipher, new Date(now() + PUBLISH_MS))
  await db.$transaction(async (tx) => {
    if (isDue(await readLockedKeys(tx, cipher))) await tx.signingKey.create({ data })
  })
}

export async function deleteRetiredKeys(store: SigningKeyStore): Promise<number> {
  const keys = (await readKeys(store)).filter(({ jwk }) => jwk)
  const successor = keys.findIndex(({ signsFrom }) => signsFrom.getTime() + RETIRED_MS <= store.now())
  if (successor < 0) return 0
  const kids = keys.slice(successor + 1).map(({ kid }) => kid)
  return (await store.db.signingKey.deleteMany({ where: { kid: { in: kids } } })).count
}
