import type { StepContext } from '../http/state.ts'
import type { Brand } from './brand.ts'
import { brandOf } from './brand.ts'
import type { Language } from './language.ts'
import { requestLanguage } from './language.ts'

export interface Look {
  language: Language
  /** The path of the authorization server and its pages, by default that at the host of AUTH_BASE_URL, which ends with /v1. */
  path?: string | undefined
  brand?: Brand | undefined
}

export const pathOf = ({ path = '/v1/oauth' }: Pick<Look, 'path'>) => path

export const lookFor = (ctx: StepContext): Look => ({
  language: requestLanguage(ctx),
  path: ctx.state.base && `${ctx.state.base}/oauth`,
  brand: brandOf(ctx),
})
