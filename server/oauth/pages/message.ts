import { html } from '../../pages/html.ts'
import type { Language } from '../../pages/language.ts'
import { document, words } from './layout.ts'
import type { Message } from './views.ts'

export interface MessageView {
  language: Language
  message: Message
  /** oidc-provider's error description for the developer of the app, in English. */
  detail?: string
}

export function messagePage({ language, message, detail }: MessageView): string {
  const { title, text } = words[language].messages[message]
  return document({
    language,
    title,
    body: html`<p class="lead">${text}</p>
${detail !== undefined && html`<p class="detail" lang="en" dir="auto">${detail}</p>`}`,
  })
}
