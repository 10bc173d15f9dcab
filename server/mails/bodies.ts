import type { Language } from '../browser/language.ts'
import { html } from '../browser/pages/html.ts'

export interface Sentences {
  subject: string
  paragraphs: readonly string[]
  /** The text of the link. */
  link: string
}

export interface Footer {
  text: string
  link?: { text: string; address: string }
}

/** The subject, text and HTML of a mail with one link. */
export function mailBodies(
  language: Language,
  { subject, paragraphs, link }: Sentences,
  address: string,
  footer: Footer,
) {
  const page = html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${subject}</title></head>
<body style="font: 16px/1.5 sans-serif; max-width: 36em">
${paragraphs.map((text) => html`<p style="white-space: pre-line"><bdi>${text}</bdi></p>\n`)}<p><a href="${address}">${link}</a></p>
<p style="font-size: 13px; margin-top: 2em">${footer.text}${footer.link && html` <a href="${footer.link.address}">${footer.link.text}</a>`}</p>
</body>
</html>
`
  const end = footer.link ? `${footer.text}\n${footer.link.text}: ${footer.link.address}` : footer.text
  return {
    subject,
    text: [...paragraphs, `${link}: ${address}`, `--\n${end}`, ''].join('\n\n'),
    html: page.text,
  }
}
