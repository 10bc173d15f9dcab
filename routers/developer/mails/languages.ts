import { Language } from '../../../prisma/generated/enums.ts'

/** The languages of the portal and its mails. */
export const portalLanguages = [Language.en, Language.de] as const
export type PortalLanguage = (typeof portalLanguages)[number]

export const toPortalLanguage = (language: Language | undefined): PortalLanguage =>
  portalLanguages.find((one) => one === language) ?? 'en'
