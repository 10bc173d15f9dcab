import { Language } from '../../prisma/generated/enums.ts'
import type { PortalLanguage } from '../../routers/developer/mails/languages.ts'
import { portalLanguages } from '../../routers/developer/mails/languages.ts'
import type { StepContext } from '../http/state.ts'
import { UNSIGNED } from './encrypted-cookies.ts'

/** The languages of members' pages and mails. */
export const languages = Object.values(Language)
export type { Language }

/** Each in the language itself. */
export const languageNames: Record<Language, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  it: 'Italiano',
  nl: 'Nederlands',
  es: 'Español',
}

/** Docs and overview have the languages of the portal. */
export type { PortalLanguage }

const COOKIE = 'language'
const YEAR_SECONDS = 365 * 24 * 60 * 60

const findLanguage = (text: unknown) => languages.find((one) => one === text)

/** The reader's choice, else negotiates the Accept-Language header (RFC 9110, 12.5.4); English by default. */
function negotiate<const L extends Language>(ctx: LanguageContext, offered: readonly L[]): L {
  const chosen = offered.find((one) => one === ctx.cookies.get(COOKIE, UNSIGNED))
  return chosen ?? ((ctx.acceptsLanguages(...offered) || 'en') as L)
}

type LanguageContext = Pick<StepContext, 'acceptsLanguages' | 'cookies'>

export const requestLanguage = (ctx: LanguageContext): Language => negotiate(ctx, languages)

export const portalLanguage = (ctx: LanguageContext): PortalLanguage => negotiate(ctx, portalLanguages)

/** Keeps the reader's choice in this browser. False for an unknown language. */
export function chooseLanguage(ctx: StepContext, text: string | null, secure: boolean): boolean {
  const language = findLanguage(text)
  if (language === undefined) return false
  const attributes = `Path=/; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  ctx.append('Set-Cookie', `${COOKIE}=${language}; ${attributes}`)
  return true
}

/** Prefers the languages of `ui_locales` (OpenID Connect Core, 3.1.2.1) to the browser's, on the pages of this request. */
export function preferLanguages({ req }: Pick<StepContext, 'req'>, tags: unknown) {
  const wanted = String(tags ?? '')
    .toLowerCase()
    .split(' ')
    .map((tag) => tag.split('-', 1)[0]!)
  const known = wanted.find((one) => findLanguage(one))
  if (known !== undefined) req.headers['accept-language'] = known
}
