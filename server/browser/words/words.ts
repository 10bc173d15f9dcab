import type { Language } from '../language.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { nl } from './nl.ts'
import type { Translation } from './translation.ts'

/** The texts of a language. Their types are the English texts, so that `fill` knows their placeholders. */
export type Words = typeof en & { readonly language: Language }

export type AllWords = Readonly<Record<Language, Words>>

/** test/pages/own-words.test.ts compares the placeholders with the English ones: here it would delay each start by 6 ms. */
const toWords = (language: Language, texts: Translation): Words => ({ ...(texts as typeof en), language })

export const words: AllWords = {
  en: toWords('en', en),
  de: toWords('de', de),
  fr: toWords('fr', fr),
  it: toWords('it', it),
  nl: toWords('nl', nl),
  es: toWords('es', es),
}
