import type { StepContext } from '../http/state.ts'
import type { Brand } from './brand.ts'
import { brandOf } from './brand.ts'
import type { Language } from './language.ts'
import { requestLanguage } from './language.ts'

/** Shared by all pages of one request. */
export interface Look {
  language: Language
  /** Undefined when the operator has not set one. */
  brand?: Brand | undefined
}

export const lookFor = (ctx: StepContext): Look => ({ language: requestLanguage(ctx), brand: brandOf(ctx) })
