import type { Cipher } from '../../routers/cipher.ts'
import type { StepContext } from '../http/state.ts'
import { INTERACTION_SECONDS } from './lifetimes.ts'

/** Values kept in the browser between two pages; it can neither read nor change them. */
export interface EncryptedCookies {
  set: (ctx: StepContext, name: string, path: string, value: unknown) => void
  /** Undefined if the cookie is missing, expired or was not set by us. */
  get: <Value>(ctx: StepContext, name: string) => Value | undefined
  clear: (ctx: StepContext, name: string, path: string) => void
}

export function encryptedCookies(cipher: Cipher, secure: boolean, now: () => number): EncryptedCookies {
  const attributes = (path: string) => `path=${path}; httponly; samesite=lax${secure ? '; secure' : ''}`
  // Binds a value to its cookie: it cannot be moved to another one.
  const associatedData = (name: string) => `cookie ${name}`
  return {
    set(ctx, name, path, value) {
      const text = JSON.stringify({ value, until: now() + INTERACTION_SECONDS * 1000 })
      const encrypted = cipher.encrypt(text, associatedData(name))
      ctx.append('Set-Cookie', `${name}=${encrypted}; max-age=${INTERACTION_SECONDS}; ${attributes(path)}`)
    },
    get<Value>(ctx: StepContext, name: string) {
      try {
        const { value, until } = JSON.parse(cipher.decrypt(ctx.cookies.get(name) ?? '', associatedData(name)))
        return until > now() ? (value as Value) : undefined
      } catch {
        return undefined
      }
    },
    clear(ctx, name, path) {
      ctx.append('Set-Cookie', `${name}=; max-age=0; ${attributes(path)}`)
    },
  }
}
