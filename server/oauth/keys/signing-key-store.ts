import { randomBytes, randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import { exportJWK, generateKeyPair } from 'jose'
import type { Database, Transaction } from '../../../prisma/client.ts'
import { IdTokenAlgorithm } from '../../../prisma/generated/enums.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { bool, int, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { CARD_CODE_SECONDS } from '../../../routers/kernel/card-codes.ts'
import type { Cipher } from '../../../routers/kernel/cipher.ts'
import { associatedData } from '../../../routers/kernel/cipher.ts'
import { DAY_MS, unixMs } from '../../../routers/kernel/time.ts'
import { ACCESS_TOKEN_SECONDS } from './lifetimes.ts'

/** After this time, plus a query's, every node knows of a new or revoked key: less than 5 s together. */
export const RELOAD_MS = 3_000

/** A new key for tokens signs after this time. */
export const PUBLISH_MS = 120_000

/** A retired key verifies until what it has signed has expired, with a margin for slow nodes and differing clocks. */
const MARGIN_SECONDS = 300

export const algorithms = Object.values(IdTokenAlgorithm)

/** What a key signs: tokens, with the algorithm of its name, or the codes of member cards. */
export type KeyKind = IdTokenAlgorithm | 'card'

interface Kind {
  algorithm: IdTokenAlgorithm
  table: 'signingKey' | 'rsaSigningKey' | 'cardKey'
  /** A new key is published for this time before it signs, when every reader of the published keys has read it. */
  publishMs: number
  /** How long what it has signed is valid. */
  validSeconds: number
  makeKid: () => string
}

const forTokens = { publishMs: PUBLISH_MS, validSeconds: ACCESS_TOKEN_SECONDS, makeKid: randomUUID }

export const kinds: Record<KeyKind, Kind> = {
  ES256: { ...forTokens, algorithm: 'ES256', table: 'signingKey' },
  RS256: { ...forTokens, algorithm: 'RS256', table: 'rsaSigningKey' },
  card: {
    algorithm: 'ES256',
    table: 'cardKey',
    // Doors may have no connection for a day.
    publishMs: DAY_MS,
    validSeconds: CARD_CODE_SECONDS,
    // A code is short.
    makeKid: () => randomBytes(6).toString('base64url'),
  },
}

export const kindNames = Object.keys(kinds) as KeyKind[]

const selectTable = (db: Database | Transaction, kind: KeyKind) => db[kinds[kind].table] as Transaction['signingKey']

export interface SigningKey {
  kid: string
  kind: KeyKind
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
  `SELECT kid, kind, ciphertext, ${unixMs('"createdAt"')} AS "createdAt", ${unixMs('"signsFrom"')} AS "signsFrom",
      EXISTS (SELECT FROM "Client" WHERE "idTokenAlgorithm" = 'RS256') AS "needsRsa" FROM (
    SELECT kid, 'ES256' AS kind, ciphertext, "createdAt", "signsFrom" FROM "SigningKey"
    UNION ALL SELECT kid, 'RS256', ciphertext, "createdAt", "signsFrom" FROM "RsaSigningKey"
    UNION ALL SELECT kid, 'card', ciphertext, "createdAt", "signsFrom" FROM "CardKey"
  ) signing ORDER BY kind COLLATE "C", "signsFrom" DESC, kid`,
  {},
  {
    kid: text,
    kind: oneOf('ES256', 'RS256', 'card'),
    ciphertext: text,
    createdAt: int,
    signsFrom: int,
    needsRsa: bool,
  },
)

const lock = statement('signing_keys_lock', 'LOCK TABLE "SigningKey" IN SHARE ROW EXCLUSIVE MODE', {}, {})

type Readable = Pick<SigningKeyStore, 'db' | 'cipher'>

/**
 * The latest `signsFrom` of each kind first, and whether a client has chosen RS256. One statement, as each node asks every
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

/** The kind's keys. The lock is on the keys of all. */
const readLockedKeys = async (tx: Transaction, cipher: Cipher, kind: KeyKind) => {
  await executeIn(tx, lock, {})
  const rows = await selectTable(tx, kind).findMany({ orderBy: [{ signsFrom: 'desc' }, { kid: 'asc' }] })
  return decrypted(
    rows.map((row) => ({ ...row, kind })),
    cipher,
  )
}

const place = { ES256: associatedData.signingKey, RS256: associatedData.rsaSigningKey, card: associatedData.cardKey }

type Row = Omit<SigningKey, 'jwk'>

const decrypted = (rows: Row[], cipher: Cipher, known: readonly SigningKey[] = []): SigningKey[] =>
  rows.map((row) => ({ ...row, jwk: known.find((key) => isSame(key, row))?.jwk ?? decryptJwk(row, cipher) }))

const isSame = (a: Row, b: Row) => a.kid === b.kid && a.kind === b.kind && a.ciphertext === b.ciphertext

function decryptJwk({ kid, kind, ciphertext }: Row, cipher: Cipher): JWK | null {
  try {
    return JSON.parse(cipher.decrypt(ciphertext, place[kind](kid)))
  } catch {
    return null
  }
}

export async function makeKey(cipher: Cipher, signsFrom: Date, kind: KeyKind = 'ES256') {
  const { algorithm, makeKid } = kinds[kind]
  const kid = makeKid()
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true, modulusLength: 2048 })
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: algorithm, use: 'sig' }
  return { kid, ciphertext: cipher.encrypt(JSON.stringify(jwk), place[kind](kid)), signsFrom }
}

type MadeKey = Awaited<ReturnType<typeof makeKey>>

export const insertKey = (db: Database | Transaction, kind: KeyKind, data: MadeKey) =>
  selectTable(db, kind).create({ data })

export async function deleteKeys(db: Database | Transaction, kids: string[]): Promise<number> {
  let count = 0
  for (const kind of kindNames)
    count += (await selectTable(db, kind).deleteMany({ where: { kid: { in: kids } } })).count
  return count
}

/**
 * Makes a key of each of these kinds that has none. Nodes that start together wait for the lock and then find the keys. Those of
 * an installation that had none sign at once; a later one for RS256 is published before it signs: until then, ES256 does.
 */
export async function insertFirstKeys(store: SigningKeyStore, missing: readonly KeyKind[]): Promise<void> {
  const { db, cipher, now } = store
  const made = await Promise.all(
    missing.map(async (kind) => ({ kind, key: await makeKey(cipher, new Date(now()), kind) })),
  )
  await db.$transaction(async (tx) => {
    const isNew = (await readLockedKeys(tx, cipher, 'ES256')).length === 0
    for (const { kind, key } of made) {
      if ((await readLockedKeys(tx, cipher, kind)).some(({ jwk }) => jwk)) continue
      const waitMs = isNew || kind !== 'RS256' ? 0 : PUBLISH_MS
      await insertKey(tx, kind, { ...key, signsFrom: new Date(key.signsFrom.getTime() + waitMs) })
    }
  })
}

/**
 * Deletes a key: what it has signed is then refused. If it is the signing key, a new one takes over. Returns false if it does not
 * exist.
 */
export async function revokeKey({ db, cipher, now }: SigningKeyStore, kid: string): Promise<boolean> {
  const kind = (await readKeys({ db, cipher })).find((key) => key.kid === kid)?.kind
  if (kind === undefined) return false
  const successor = await makeKey(cipher, new Date(now()), kind)
  return db.$transaction(async (tx) => {
    const keys = await readLockedKeys(tx, cipher, kind)
    const signing = keys.find(({ jwk, signsFrom }) => jwk && signsFrom.getTime() <= now())
    const count = await deleteKeys(tx, [kid])
    if (signing?.kid === kid) await insertKey(tx, kind, successor)
    return count > 0
  })
}

/** Publishes a new key of each kind once its newest has signed for `days`; it signs when every node and reader has it. */
export async function rotateOldKeys({ db, cipher, now }: SigningKeyStore, days: number): Promise<void> {
  const stored = await readKeys({ db, cipher })
  for (const kind of kindNames) {
    const isDue = (keys: SigningKey[]) => {
      const newest = keys.find((key) => key.jwk && key.kind === kind)
      return newest !== undefined && newest.signsFrom.getTime() + days * DAY_MS <= now()
    }
    if (!isDue(stored)) continue
    const key = await makeKey(cipher, new Date(now() + kinds[kind].publishMs), kind)
    await db.$transaction(async (tx) => {
      if (isDue(await readLockedKeys(tx, cipher, kind))) await insertKey(tx, kind, key)
    })
  }
}

export async function deleteRetiredKeys(store: SigningKeyStore): Promise<number> {
  const usable = (await readKeys(store)).filter(({ jwk }) => jwk)
  const retired = kindNames.flatMap((kind) => {
    const keys = usable.filter((key) => key.kind === kind)
    const retiredMs = (kinds[kind].validSeconds + MARGIN_SECONDS) * 1000
    const successor = keys.findIndex(({ signsFrom }) => signsFrom.getTime() + retiredMs <= store.now())
    return successor < 0 ? [] : keys.slice(successor + 1)
  })
  return retired.length > 0
    ? deleteKeys(
        store.db,
        retired.map(({ kid }) => kid),
      )
    : 0
}
