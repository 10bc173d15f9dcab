import { createHash } from 'node:crypto'
import type { StepContext } from '../../http/state.ts'
import type { Brand } from '../brand.ts'
import { toDataUrl } from '../brand.ts'
import type { PortalLanguage } from '../language.ts'
import { sendPage } from '../send-page.ts'
import { document } from './document.ts'
import type { Html } from './html.ts'
import { styleElement } from './html.ts'
import { words } from './overview-words.ts'
import { plainSheet } from './style-sheet.ts'

const hash = createHash('sha256').update(plainSheet).digest('base64')
const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
const style = styleElement(plainSheet)

/** What the pages outside of sign-in have in common. */
export interface PlainContext {
  language: PortalLanguage
  brand?: Brand | undefined
}

interface SelfContainedPage extends PlainContext {
  title: string
  body: Html
}

/** A page with an inline style sheet, for hosts and addresses that serve nothing else. */
export const selfContained = ({ language, brand, title, body }: SelfContainedPage): string =>
  document({
    language,
    mark: brand?.name ?? words[language].mark,
    logo: brand?.logo && toDataUrl(brand.logo),
    title,
    style,
    body,
  })

export function sendSelfContained(ctx: StepContext, html: string, status: number) {
  sendPage(ctx, html, status)
  ctx.set('Content-Security-Policy', policy)
}
