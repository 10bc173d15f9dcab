import type { StepContext } from '../http/state.ts'

const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** Negotiates the Accept-Language header (RFC 9110, 12.5.4); English by default. */
export const requestLanguage = (ctx: Pick<StepContext, 'acceptsLanguages'>): Language =>
  (ctx.acceptsLanguages(...languages) || 'en') as Language
