import { createHash } from 'node:crypto'
import type { StepContext } from '../http/state.ts'
import { document } from './document.ts'
import type { Html } from './html.ts'
import { styleElement } from './html.ts'
import type { Language } from './language.ts'
import { sendPage } from './send-page.ts'
import { styleSheet } from './style-sheet.ts'
import { words } from './words.ts'

const hash = createHash('sha256').update(styleSheet).digest('base64')
const policy = `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
const style = styleElement(styleSheet)

export interface SelfContainedPage {
  language: Language
  title: string
  body: Html
}

/** A page with its style sheet inside: for hosts and addresses where nothing else is served. */
export const selfContained = ({ language, title, body }: SelfContainedPage): string =>
  document({ language, mark: words[language].mark, title, style, body })

export function sendSelfContained(ctx: StepContext, html: string, status: number) {
  sendPage(ctx, html, status)
  ctx.set('Content-Security-Policy', policy)
}
