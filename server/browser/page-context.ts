import type { StepContext } from '../http/state.ts'
import type { Brand } from './brand.ts'
import { readBrand, readWords } from './brand.ts'
import { requestLanguage } from './language.ts'
import type { Words } from './words/words.ts'

export interface PageContext {
  w: Words
  /** The path of the authorization server and its pages, by default that at the host of AUTH_BASE_URL, which ends with /v1. */
  path?: string | undefined
  brand?: Brand | undefined
}

export const readPath = ({ path = '/v1/oauth' }: Pick<PageContext, 'path'>) => path

export const pageContext = (ctx: StepContext): PageContext => ({
  w: readWords(ctx)[requestLanguage(ctx)],
  path: ctx.state.base && `${ctx.state.base}/oauth`,
  brand: readBrand(ctx),
})
