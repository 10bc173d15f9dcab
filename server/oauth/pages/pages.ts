/** What the routes of the authorization server need of the pages. */
export { connectedPage } from './connected.ts'
export { consentPage } from './consent.ts'
export { languageOf } from './language.ts'
export { messagePage } from './message.ts'
export { codePage, personPage, signInPage } from './sign-in.ts'
export { styleSheet } from './style-sheet.ts'
export type { AppView, Language, Message, Problem } from './views.ts'

/** The headers of every page. */
export const pageHeaders: Record<string, string> = {
  // No form-action: Chromium applies it to the redirect back to the app as well, and would stop it.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  // Not no-referrer: with it browsers post our own forms with `Origin: null`, as if they came from elsewhere.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}
