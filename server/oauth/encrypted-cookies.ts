import type { Cipher } from '../../routers/cipher.ts'
import type { StepContext } from '../http/state.ts'
import { INTERACTION_SECONDS } from './lifetimes.ts'

/** Values kept in the browser between two pages; it can neither read nor change them. */
export interface EncryptedCookies {
  set: (ctx: StepContext, name: string, path: string, value: unknown) => void
  /** Undefined if the cookie is missing, expired or was not set by us in this browser. */
  get: <Value>(ctx: StepContext, name: string) => Value | undefined
  clear: (ctx: StepContext, name: string, path: string) => void
}

interface Options {
  seal: Seal
  secure: boolean
  /** The browser's id. */
  browserOf: (ctx: StepContext) => string
}

/** Each value is bound to its cookie and its browser: it cannot be moved to another. */
export function encryptedCookies({ seal, secure, browserOf }: Options): EncryptedCookies {
  const nameOf = (name: string) => (secure ? `__Secure-${name}` : name)
  const attributes = (path: string) => `path=${path}; httponly; samesite=lax${secure ? '; secure' : ''}`
  const place = (ctx: StepContext, name: string) => `cookie ${name} of ${browserOf(ctx)}`
  return {
    set(ctx, name, path, value) {
      const sealed = seal.close(value, INTERACTION_SECONDS, place(ctx, name))
      ctx.append('Set-Cookie', `${nameOf(name)}=${sealed}; max-age=${INTERACTION_SECONDS}; ${attributes(path)}`)
    },
    get: <Value>(ctx: StepContext, name: string) => seal.open<Value>(ctx.cookies.get(nameOf(name)), place(ctx, name)),
    clear(ctx, name, path) {
      ctx.append('Set-Cookie', `${nameOf(name)}=; max-age=0; ${attributes(path)}`)
    },
  }
}

export interface Seal {
  /** Encrypts a value for `place`, for so many seconds. */
  close: (value: unknown, seconds: number, place: string) => string
  /** Undefined if it is missing, expired, or was not encrypted by us for this place. */
  open: <Value>(text: string | undefined, place: string) => Value | undefined
}

export const createSeal = (cipher: Cipher, now: () => number): Seal => ({
  close: (value, seconds, place) => cipher.encrypt(JSON.stringify({ value, until: now() + seconds * 1000 }), place),
  open<Value>(text: string | undefined, place: string) {
    try {
      const { value, until } = JSON.parse(cipher.decrypt(text ?? '', place))
      return until > now() ? (value as Value) : undefined
    } catch {
      return undefined
    }
  },
})
