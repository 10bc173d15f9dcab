import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { comparableEmail } from '../../routers/kernel/email-address.ts'
import type { CookieContext, Seal } from './encrypted-cookies.ts'
import { UNSIGNED } from './encrypted-cookies.ts'

/** What the service knows of a browser, kept there in an encrypted cookie. */
interface Browser {
  id: string
  /** With which members have signed in, the latest first. */
  emails: string[]
}

/** How long a browser is known after its last sign-in. */
const BROWSER_SECONDS = 365 * 86_400

/** Several members may share a computer; the cookie stays small. */
const MAX_EMAILS = 5

export interface Browsers {
  /** The browser's id; a new one if it has none. */
  idOf: (ctx: CookieContext) => string
  /** The browser's id, if a member has signed in there with this e-mail address; else null. */
  idIfKnown: (ctx: CookieContext, email: string) => string | null
  /** Notes that a member has signed in with this e-mail address. */
  remember: (ctx: CookieContext, email: string) => void
}

/** Where the address is https, no other host can set the cookie: browsers accept `__Host-` from its own host alone. */
export function createBrowsers(seal: Seal, secure: boolean): Browsers {
  const name = secure ? '__Host-member_browser' : 'member_browser'
  const attributes = `max-age=${BROWSER_SECONDS}; path=/; httponly; samesite=lax${secure ? '; secure' : ''}`
  const requests = new WeakMap<IncomingMessage, Browser>()

  const set = (ctx: CookieContext, browser: Browser) => {
    requests.set(ctx.req, browser)
    ctx.append('Set-Cookie', `${name}=${seal.close(browser, BROWSER_SECONDS, name)}; ${attributes}`)
    return browser
  }
  const current = (ctx: CookieContext) =>
    requests.get(ctx.req) ?? seal.open<Browser>(ctx.cookies.get(name, UNSIGNED), name)

  return {
    idOf: (ctx) => (current(ctx) ?? set(ctx, { id: randomUUID(), emails: [] })).id,
    idIfKnown(ctx, typed) {
      const browser = current(ctx)
      const email = comparableEmail(typed)
      return browser && email !== null && browser.emails.includes(email) ? browser.id : null
    },
    remember(ctx, email) {
      const { id, emails } = current(ctx) ?? { id: randomUUID(), emails: [] }
      set(ctx, { id, emails: [email, ...emails.filter((one) => one !== email)].slice(0, MAX_EMAILS) })
    },
  }
}
