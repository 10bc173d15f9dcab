import type { Cipher } from '../../routers/cipher.ts'
import type { StepContext } from '../http/state.ts'
import { INTERACTION_SECONDS } from './lifetimes.ts'

/** What a browser keeps for us between two pages, and can neither read nor change. */
export interface SealedCookies {
  put: (ctx: StepContext, name: string, path: string, value: unknown) => void
  /** Undefined: there is none, or it has run out, or it is not ours. */
  get: <Value>(ctx: StepContext, name: string) => Value | undefined
  remove: (ctx: StepContext, name: string, path: string) => void
}

export function sealedCookies(cipher: Cipher, secure: boolean, now: () => number): SealedCookies {
  const attributes = (path: string) => `path=${path}; httponly; samesite=lax${secure ? '; secure' : ''}`
  const place = (name: string) => `cookie ${name}`
  return {
    put(ctx, name, path, value) {
      const text = JSON.stringify({ value, until: now() + INTERACTION_SECONDS * 1000 })
      const age = `max-age=${INTERACTION_SECONDS}`
      ctx.append('Set-Cookie', `${name}=${cipher.encrypt(text, place(name))}; ${age}; ${attributes(path)}`)
    },
    get<Value>(ctx: StepContext, name: string) {
      try {
        const { value, until } = JSON.parse(cipher.decrypt(ctx.cookies.get(name) ?? '', place(name)))
        return until > now() ? (value as Value) : undefined
      } catch {
        return undefined
      }
    },
    remove(ctx, name, path) {
      ctx.append('Set-Cookie', `${name}=; max-age=0; ${attributes(path)}`)
    },
  }
}
