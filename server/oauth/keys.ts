import { randomUUID } from 'node:crypto'
import type { JWK, JWTVerifyGetKey } from 'jose'
import { createLocalJWKSet, exportJWK, generateKeyPair, errors as jose } from 'jose'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { associatedData } from '../../routers/cipher.ts'
import { errors } from '../../routers/errors.ts'
import { ACCESS_TOKEN_SECONDS } from './lifetimes.ts'

/** Every node knows a key that long after it was made, at the latest; a new one signs after twice that. */
const RELOAD_MS = 60_000
export const PUBLISH_MS = 2 * RELOAD_MS

/** A key that signs no more is kept until its last token has run out, with room for nodes that are late and clocks that differ. */
const RETIRED_MS = ACCESS_TOKEN_SECONDS * 1000 + 5 * RELOAD_MS

/** Reloads for keys that nobody has heard of begin at most so often, however many tokens name some. */
const UNKNOWN_MS = 1_000

export interface SigningKey {
  kid: string
  createdAt: Date
  signsFrom: Date
  /** The private JWK; null when it was sealed with another SECRETS_KEY. */
  jwk: JWK | null
}

export interface SigningKeys {
  /** The private keys, the one that signs now first; the same array as long as nothing changes. */
  current: () => JWK[]
  verify: JWTVerifyGetKey
  reload: () => Promise<void>
  close: () => void
}

interface Parts {
  db: Database
  cipher: Cipher
  now: () => number
  onError: (error: unknown) => void
}

/** The keys in the table, those that sign later first. */
export async function readKeys({ db, cipher }: Pick<Parts, 'db' | 'cipher'>): Promise<SigningKey[]> {
  const rows = await db.signingKey.findMany({ orderBy: [{ signsFrom: 'desc' }, { kid: 'asc' }] })
  return rows.map(({ ciphertext, ...row }) => {
    try {
      return { ...row, jwk: JSON.parse(cipher.decrypt(ciphertext, associatedData.signingKey(row.kid))) as JWK }
    } catch {
      return { ...row, jwk: null }
    }
  })
}

/** A new key, sealed, as a row of the table. */
export async function makeKey(cipher: Cipher, signsFrom: Date) {
  const kid = randomUUID()
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = { ...(await exportJWK(privateKey)), kid, alg: 'ES256', use: 'sig' }
  return { kid, ciphertext: cipher.encrypt(JSON.stringify(jwk), associatedData.signingKey(kid)), signsFrom }
}

/** Removes the keys whose successor has signed for so long that no token of theirs is valid any more. */
export async function removeRetired(parts: Omit<Parts, 'onError'>): Promise<number> {
  const own = (await readKeys(parts)).filter(({ jwk }) => jwk)
  const successor = own.findIndex(({ signsFrom }) => signsFrom.getTime() + RETIRED_MS <= parts.now())
  if (successor < 0) return 0
  const kids = own.slice(successor + 1).map(({ kid }) => kid)
  return (await parts.db.signingKey.deleteMany({ where: { kid: { in: kids } } })).count
}

/** Opens the keys, makes the first one, and looks for new ones every minute. */
export async function openKeys({ db, cipher, now, onError }: Parts): Promise<SigningKeys> {
  let keys: SigningKey[] = []
  let verifier: JWTVerifyGetKey = createLocalJWKSet({ keys: [] })
  let current: JWK[] = []
  let loading: Promise<void> | undefined
  let lastUnknown = Number.NEGATIVE_INFINITY
  const foreign = new Set<string>()

  const load = async () => {
    const found = await readKeys({ db, cipher })
    for (const { kid, jwk } of found) {
      if (jwk || foreign.has(kid)) continue
      foreign.add(kid)
      onError(new Error(`the signing key ${kid} is sealed with another SECRETS_KEY: tokens of its nodes are refused`))
    }
    keys = found.filter(({ jwk }) => jwk)
    verifier = createLocalJWKSet({ keys: keys.map(({ jwk }) => publicOf(jwk!)) })
  }
  const reload = () => {
    loading ??= load().finally(() => {
      loading = undefined
    })
    return loading
  }
  /** For a token that another node has just signed. A flood of made-up keys shares one look a second. */
  const reloadForUnknown = async () => {
    const wait = lastUnknown + UNKNOWN_MS - performance.now()
    if (wait > 0) {
      waiting ??= new Promise<void>((resolve) => setTimeout(resolve, wait).unref()).then(() => {
        waiting = undefined
        lastUnknown = performance.now()
        return reload()
      })
      return waiting
    }
    lastUnknown = performance.now()
    return reload()
  }
  let waiting: Promise<void> | undefined

  await load()
  if (keys.length === 0) {
    await makeFirst({ db, cipher, now })
    await load()
  }
  const timer = setInterval(() => reload().catch(onError), RELOAD_MS).unref()

  return {
    reload,
    close: () => clearInterval(timer),
    current() {
      const signing = keys.find(({ signsFrom }) => signsFrom.getTime() <= now()) ?? keys.at(-1)!
      const ordered = [signing, ...keys.filter((key) => key !== signing)]
      if (ordered.length !== current.length || ordered.some(({ kid }, i) => kid !== current[i]!.kid)) {
        current = ordered.map(({ jwk }) => jwk!)
      }
      return current
    },
    async verify(header, token) {
      const find = () => verifier(header, token)
      return Promise.resolve(find()).catch(async (error) => {
        if (!(error instanceof jose.JWKSNoMatchingKey)) throw error
        await reloadForUnknown().catch((cause) => {
          throw errors.unavailable(cause)
        })
        return find()
      })
    },
  }
}

/** One of several nodes that start at once makes it; the lock lets the others see it. */
async function makeFirst({ db, cipher, now }: Omit<Parts, 'onError'>) {
  const key = await makeKey(cipher, new Date(now()))
  await db.$transaction(async (tx) => {
    await tx.$executeRaw`LOCK TABLE "SigningKey" IN SHARE ROW EXCLUSIVE MODE`
    const own = await readKeys({ db: tx as Database, cipher })
    if (own.every(({ jwk }) => !jwk)) await tx.signingKey.create({ data: key })
  })
}

const publicOf = ({ d: _private, ...jwk }: JWK): JWK => jwk
