import type { StepContext } from '../http/state.ts'
import type { Brand } from './brand.ts'
import { brandOf } from './brand.ts'
import type { Language } from './language.ts'
import { requestLanguage } from './language.ts'

export interface Look {
  language: Language
  brand?: Brand | undefined
}

export const lookFor = (ctx: StepContext): Look => ({ language: requestLanguage(ctx), brand: brandOf(ctx) })
