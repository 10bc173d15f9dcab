import { words as shared } from '../../browser/pages/layout.ts'
import { de } from './words-de.ts'
import { en } from './words-en.ts'

export const words = { en: { ...shared.en, ...en }, de: { ...shared.de, ...de } }
