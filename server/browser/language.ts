import type { StepContext } from '../http/state.ts'

export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** Negotiates the Accept-Language header (RFC 9110, 12.5.4); English by default. */
export const requestLanguage = (ctx: Pick<StepContext, 'acceptsLanguages'>): Language =>
  (ctx.acceptsLanguages(...languages) || 'en') as Language

/** Prefers the languages of `ui_locales` (OpenID Connect Core, 3.1.2.1) to the browser's, on the pages of this request. */
export function preferLanguages({ req }: Pick<StepContext, 'req'>, tags: unknown) {
  const wanted = String(tags ?? '')
    .toLowerCase()
    .split(' ')
    .map((tag) => tag.split('-', 1)[0]!)
  const known = wanted.find((one) => (languages as readonly string[]).includes(one))
  if (known !== undefined) req.headers['accept-language'] = known
}
