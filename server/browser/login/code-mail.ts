import { html } from '../pages/html.ts'
import { fillText } from '../words/fill.ts'
import type { Words } from '../words/words.ts'

/** The mail needs no link, and names the service as its pages do, not the app. */
export function codeMail(code: string, { language, codeMail: texts, mark }: Words, brand: string = mark) {
  const values = { service: brand }
  const [subject, lead] = [fillText(texts.subject, values), fillText(texts.lead, values)]
  const rest = [texts.where, texts.warning]
  const page = html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font: 16px/1.5 sans-serif; color: #1c2430; max-width: 32em">
<p>${lead}</p>
<p style="font: bold 28px/1.5 monospace; letter-spacing: 0.1em">${code}</p>
${rest.map((text) => html`<p>${text}</p>\n`)}</body>
</html>
`
  return { subject, text: [lead, `    ${code}`, ...rest, ''].join('\n\n'), html: page.text }
}
