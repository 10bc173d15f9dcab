import type { StepContext } from '../http/state.ts'
import type { Brand } from './brand.ts'
import { readBrand } from './brand.ts'
import type { Language } from './language.ts'
import { requestLanguage } from './language.ts'

export interface PageContext {
  language: Language
  /** The path of the authorization server and its pages, by default that at the host of AUTH_BASE_URL, which ends with /v1. */
  path?: string | undefined
  brand?: Brand | undefined
}

export const readPath = ({ path = '/v1/oauth' }: Pick<PageContext, 'path'>) => path

export const pageContext = (ctx: StepContext): PageContext => ({
  language: requestLanguage(ctx),
  path: ctx.state.base && `${ctx.state.base}/oauth`,
  brand: readBrand(ctx),
})
