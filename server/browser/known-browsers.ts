import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { comparableEmail } from '../../routers/kernel/email-address.ts'
import type { CookieContext, Seal } from './encrypted-cookies.ts'
import { UNSIGNED } from './encrypted-cookies.ts'

interface Browser {
  id: string
  /** E-mail addresses of members who have signed in with this browser, the latest first. */
  emails: string[]
}

/** How long a browser is recognised after its last sign-in. */
const BROWSER_SECONDS = 365 * 86_400

/** Several members may share a computer; limited so that the cookie stays small. */
const MAX_EMAILS = 5

export interface Browsers {
  ensureId: (ctx: CookieContext) => string
  /** The browser's id if a member has signed in with this e-mail address there; else null. */
  idIfKnown: (ctx: CookieContext, email: string) => string | null
  remember: (ctx: CookieContext, email: string) => void
}

/** With https, no other host can set the cookie: browsers accept `__Host-` cookies only from the host itself. */
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
    ensureId: (ctx) => (current(ctx) ?? set(ctx, { id: randomUUID(), emails: [] })).id,
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
