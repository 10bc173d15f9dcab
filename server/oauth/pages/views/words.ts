import { words as shared } from '../../../browser/pages/layout.ts'
import { de as clubDe } from './club-words-de.ts'
import { en as clubEn } from './club-words-en.ts'
import { de } from './words-de.ts'
import { en } from './words-en.ts'

export const words = { en: { ...shared.en, ...en, ...clubEn }, de: { ...shared.de, ...de, ...clubDe } }
