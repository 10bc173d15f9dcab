import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { StepContext } from '../http/state.ts'

/** How long a member may take to sign in and consent. */
export const INTERACTION_SECONDS = 15 * 60

export type CookieContext = Pick<StepContext, 'req' | 'cookies' | 'append'>

/** Values stored in the browser between two pages; the browser can neither read nor change them. */
export interface EncryptedCookies {
  set: (ctx: CookieContext, name: string, path: string, value: unknown) => void
  /** Undefined if the cookie is missing, expired, or was not set by this service in this browser. */
  get: <Value>(ctx: CookieContext, name: string) => Value | undefined
  clear: (ctx: CookieContext, name: string, path: string) => void
}

interface Options {
  seal: Seal
  secure: boolean
  readBrowserId: (ctx: CookieContext) => string
}

/**
 * Browsers store 4,096 bytes of a cookie, including its name. A value has at most 9 parts; the first one begins with their
 * number.
 */
const PART = /.{1,3800}/g

/** oidc-provider's contexts expect a signature by default. */
export const UNSIGNED = { signed: false }

/** Each value is bound to its cookie and browser, and cannot be moved to another. */
export function encryptedCookies({ seal, secure, readBrowserId }: Options): EncryptedCookies {
  const partName = (name: string, at: number) => `${secure ? '__Secure-' : ''}${name}${at === 0 ? '' : `.${at}`}`
  const attributes = (path: string) => `path=${path}; httponly; samesite=lax${secure ? '; secure' : ''}`
  const place = (ctx: CookieContext, name: string) => `cookie ${name} of ${readBrowserId(ctx)}`
  return {
    set(ctx, name, path, value) {
      const sealed = seal.close(value, INTERACTION_SECONDS, place(ctx, name))
      const parts = sealed.match(PART) ?? []
      for (const [at, part] of [`${parts.length}.${parts[0]}`, ...parts.slice(1)].entries()) {
        ctx.append('Set-Cookie', `${partName(name, at)}=${part}; max-age=${INTERACTION_SECONDS}; ${attributes(path)}`)
      }
    },
    get<Value>(ctx: CookieContext, name: string) {
      const first = ctx.cookies.get(partName(name, 0), UNSIGNED) ?? ''
      const others = Array.from({ length: Number(first[0]) - 1 || 0 }, (_, at) =>
        ctx.cookies.get(partName(name, at + 1), UNSIGNED),
      )
      return seal.open<Value>([first.slice(2), ...others].join(''), place(ctx, name))
    },
    clear(ctx, name, path) {
      ctx.append('Set-Cookie', `${partName(name, 0)}=; max-age=0; ${attributes(path)}`)
    },
  }
}

export interface Seal {
  /** Encrypts a value for `place`; it can be opened for `seconds`. */
  close: (value: unknown, seconds: number, place: string) => string
  /** Undefined if it is missing, expired, or was not encrypted by this service for this place. */
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
