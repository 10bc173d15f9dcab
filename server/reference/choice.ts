import { UNSIGNED } from '../browser/encrypted-cookies.ts'
import type { StepContext } from '../http/state.ts'
import type { Language } from './languages.ts'
import { FIRST, isLanguage } from './languages.ts'

/** Has the name of a language, and nothing of its reader. */
const COOKIE = 'code'
const SECONDS = 365 * 24 * 3600

/** The language of `?code=`, which the browser keeps, or else the one that it has kept. */
export function chooseLanguage(ctx: StepContext, address: string): Language {
  ctx.vary('Cookie')
  const query = new URLSearchParams(ctx.state.search)
  const chosen = query.get('code')
  // The answer to a sign-in has a `code` of its own, with a state.
  if (chosen === null || query.has('state')) return orFirst(ctx.cookies.get(COOKIE, UNSIGNED))
  const language = orFirst(chosen)
  const secure = address.startsWith('https:') ? '; secure' : ''
  if (language === chosen)
    ctx.append('Set-Cookie', `${COOKIE}=${language}; path=/; max-age=${SECONDS}; samesite=lax; httponly${secure}`)
  return language
}

const orFirst = (name = ''): Language => (isLanguage(name) ? name : FIRST)
