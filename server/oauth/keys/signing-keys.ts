import type { JWK, JWTVerifyGetKey } from 'jose'
import { createLocalJWKSet, errors as jose } from 'jose'
import type { IdTokenAlgorithm } from '../../../prisma/generated/enums.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { hasSecretsKey } from '../../../routers/kernel/secrets-key.ts'
import type { KeyKind, SigningKey, SigningKeyStore } from './signing-key-store.ts'
import { insertFirstKeys, kindNames, RELOAD_MS, readKeys, readKeysAndNeed } from './signing-key-store.ts'

/** Runs at most once in `ms`; callers in between share the next run. */
export function throttled(run: () => Promise<void>, ms: number): () => Promise<void> {
  let lastAt = Number.NEGATIVE_INFINITY
  let next: Promise<void> | undefined
  const runNow = () => {
    next = undefined
    lastAt = performance.now()
    return run()
  }
  return () => {
    const wait = lastAt + ms - performance.now()
    if (wait <= 0) return runNow()
    next ??= new Promise<void>((resolve) => setTimeout(resolve, wait).unref()).then(runNow)
    return next
  }
}

/** Tokens with unknown keys cause at most one reload in this time, however many there are. */
const UNKNOWN_KEY_MS = 1_000

export interface SigningKeys {
  /** The private keys of tokens, the signing one of each algorithm first. Returns the same array while nothing changes. */
  current: () => JWK[]
  /** For the codes of member cards: the private key that signs, the public ones, and the key of a code. */
  cards: { signing: () => JWK; published: () => JWK[]; verify: JWTVerifyGetKey }
  /** Whether a key of this algorithm may sign already. */
  signsWith: (algorithm: IdTokenAlgorithm) => boolean
  /** The key of an access token: ES256 alone. */
  verify: JWTVerifyGetKey
  /** Differs after each change of the keys. */
  version: () => unknown
  signsSince: () => number
  reload: () => Promise<void>
  close: () => void
}

type Options = SigningKeyStore & { onError: (error: unknown) => void; reloadMs?: number }

/** Loads the signing keys, creates the first ones if necessary, and reloads them every 3 s. */
export async function openSigningKeys(options: Options): Promise<SigningKeys> {
  const { db, cipher, now, onError, reloadMs = RELOAD_MS } = options
  let keys: SigningKey[] = []
  /** The published keys of access tokens and of cards; new functions after each change. */
  let keySet: JWTVerifyGetKey = createLocalJWKSet({ keys: [] })
  let cardKeySet = keySet
  let current: JWK[] = []
  let loading: Promise<void> | undefined
  let isOpen = false
  const undecryptable = new Set<string>()
  const listKeys = (kind: KeyKind) => keys.filter((key) => key.kind === kind)
  const listPublic = (kind: KeyKind) => listKeys(kind).map(({ jwk }) => publicKey(jwk!))

  const load = async () => {
    const { keys: found, needsRsa } = await readKeysAndNeed({ db, cipher }, keys)
    const wanted = findMissing(found, needsRsa)
    // A process that a rotation has left behind decrypts none, and no other could use what it makes.
    const makes = wanted.length > 0 && (!isOpen || (await hasSecretsKey(db, cipher)))
    const missing = makes ? wanted : []
    if (missing.length > 0) await insertFirstKeys({ db, cipher, now }, missing)
    const stored = missing.length > 0 ? await readKeys({ db, cipher }) : found
    for (const { kid, jwk } of stored) {
      if (jwk || undecryptable.has(kid)) continue
      undecryptable.add(kid)
      onError(new Error(`the signing key ${kid} is encrypted with another SECRETS_KEY; what it has signed is refused`))
    }
    const usable = stored.filter(({ jwk }) => jwk)
    const changed = !sameKeys(keys, usable)
    keys = usable
    if (!changed) return
    keySet = createLocalJWKSet({ keys: listPublic('ES256') })
    cardKeySet = createLocalJWKSet({ keys: listPublic('card') })
  }
  const reload = () => {
    loading ??= load().finally(() => {
      loading = undefined
    })
    return loading
  }
  const reloadForUnknownKey = throttled(reload, UNKNOWN_KEY_MS)

  await load()
  isOpen = true
  /** Reported once, not at every attempt. */
  let failing = false
  const timer = setInterval(async () => {
    try {
      await reload()
      failing = false
    } catch (error) {
      if (!failing) onError(error)
      failing = true
    }
  }, reloadMs).unref()

  const findStarted = (kind: KeyKind) => listKeys(kind).find(({ signsFrom }) => signsFrom.getTime() <= now())
  const signing = (kind: KeyKind = 'ES256') => findStarted(kind) ?? listKeys(kind).at(-1)!

  const verifyWith =
    (read: () => JWTVerifyGetKey): JWTVerifyGetKey =>
    async (header, token) => {
      try {
        return await read()(header, token)
      } catch (error) {
        if (!(error instanceof jose.JWKSNoMatchingKey)) throw error
        // Another node may have started to sign with a new key.
        await reloadForUnknownKey().catch((cause) => {
          throw errors.unavailable(cause)
        })
        return read()(header, token)
      }
    }

  return {
    reload,
    signsSince: () => signing().signsFrom.getTime(),
    signsWith: (algorithm) => findStarted(algorithm) !== undefined,
    version: () => keySet,
    close: () => clearInterval(timer),
    current() {
      const first = [signing(), findStarted('RS256')].filter((key) => key !== undefined)
      const ordered = [...first, ...keys.filter((key) => key.kind !== 'card' && !first.includes(key))]
      if (!sameKeys(ordered, current)) {
        current = ordered.map(({ jwk }) => jwk!)
      }
      return current
    },
    cards: {
      signing: () => signing('card').jwk!,
      published: () => listPublic('card'),
      verify: verifyWith(() => cardKeySet),
    },
    verify: verifyWith(() => keySet),
  }
}

/**
 * Each installation has a usable key of every kind. One for RS256 takes 150 ms of CPU to make: where all are encrypted with another
 * SECRETS_KEY, a client has to need it.
 */
const findMissing = (stored: readonly SigningKey[], needsRsa: boolean): KeyKind[] =>
  kindNames.filter((kind) => {
    const own = stored.filter((key) => key.kind === kind)
    return own.length === 0 || ((kind !== 'RS256' || needsRsa) && own.every(({ jwk }) => !jwk))
  })

const sameKeys = (some: readonly { kid?: string }[], others: readonly { kid?: string }[]) =>
  some.length === others.length && some.every(({ kid }, i) => kid === others[i]!.kid)

const publicKey = ({ d: _private, ...jwk }: JWK): JWK => jwk
