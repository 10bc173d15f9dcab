import type { JWK, JWTVerifyGetKey } from 'jose'
import { createLocalJWKSet, errors as jose } from 'jose'
import { errors } from '../../routers/errors.ts'
import type { SigningKey, SigningKeyStore } from './signing-key-store.ts'
import { insertFirstKey, RELOAD_MS, readKeys } from './signing-key-store.ts'

/** Tokens with unknown keys cause at most one reload in this time, however many there are. */
const UNKNOWN_KEY_MS = 1_000

export interface SigningKeys {
  /** The private keys, the one that signs now first. Returns the same array while nothing changes. */
  current: () => JWK[]
  verify: JWTVerifyGetKey
  reload: () => Promise<void>
  close: () => void
}

type Options = SigningKeyStore & { onError: (error: unknown) => void }

/** Loads the signing keys, creates the first one if necessary, and reloads them every minute. */
export async function openSigningKeys({ db, cipher, now, onError }: Options): Promise<SigningKeys> {
  let keys: SigningKey[] = []
  let keySet: JWTVerifyGetKey = createLocalJWKSet({ keys: [] })
  let current: JWK[] = []
  let loading: Promise<void> | undefined
  const undecryptable = new Set<string>()

  const load = async () => {
    const stored = await readKeys({ db, cipher })
    for (const { kid, jwk } of stored) {
      if (jwk || undecryptable.has(kid)) continue
      undecryptable.add(kid)
      onError(new Error(`the signing key ${kid} is encrypted with another SECRETS_KEY; its tokens are refused`))
    }
    keys = stored.filter(({ jwk }) => jwk)
    keySet = createLocalJWKSet({ keys: keys.map(({ jwk }) => publicKey(jwk!)) })
  }
  const reload = () => {
    loading ??= load().finally(() => {
      loading = undefined
    })
    return loading
  }
  const reloadForUnknownKey = throttled(reload, UNKNOWN_KEY_MS)

  await load()
  if (keys.length === 0) {
    await insertFirstKey({ db, cipher, now })
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
      try {
        return await keySet(header, token)
      } catch (error) {
        if (!(error instanceof jose.JWKSNoMatchingKey)) throw error
        // Another node may have started to sign with a new key.
        await reloadForUnknownKey().catch((cause) => {
          throw errors.unavailable(cause)
        })
        return keySet(header, token)
      }
    },
  }
}

const publicKey = ({ d: _private, ...jwk }: JWK): JWK => jwk

/** Runs at most once in `ms`; callers in between share the next run. */
function throttled(run: () => Promise<void>, ms: number): () => Promise<void> {
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
