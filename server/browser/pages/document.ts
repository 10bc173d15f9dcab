import type { Language } from '../language.ts'
import type { Html } from './html.ts'
import { html, name } from './html.ts'

/** A pennant. As a data URL it saves the browser's request for favicon.ico. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%231d5c43' d='M2 1h2v14H2zM5 2l10 4-10 4z'/%3E%3C/svg%3E"

const pennant = html`<svg viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d="M2 1h2v14H2zM5 2l10 4-10 4z"/></svg>`

/** The site's name beside its image. */
export const brandMark = (mark: string, logo: string | undefined) =>
  html`${logo === undefined ? pennant : html`<img src="${logo}" alt="">`} ${name(mark)}`

interface Page {
  language: Language
  /** The site's name, above the page's card. */
  mark: string
  /** The address of the image beside it; by default a pennant. */
  logo?: string | undefined
  /** In place of the header with the mark. */
  header?: Html | undefined
  /** The text of a link past what comes before the `main`. */
  skip?: string | undefined
  above?: Html | undefined
  below?: Html | undefined
  /** Contains no users' text, as its direction cannot be isolated in a title. */
  title: string
  heading?: Html | undefined
  /** The browser tab's title; by default the title. */
  tab?: string | undefined
  style: Html
  body: Html
}

/** A complete document with one `main` and one `h1`. */
export function document(page: Page): string {
  const { language, mark, logo, header, skip, above, below, title, heading, tab, style, body } = page
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${tab ?? title}</title>
<link rel="icon" href="${logo ?? icon}">
${style}
</head>
<body>
${skip !== undefined && html`<a class="skip" href="#main">${skip}</a>\n`}${header ?? html`<header>${brandMark(mark, logo)}</header>`}
${above}<main id="main">
<h1>${heading ?? title}</h1>
${body}
</main>
${below}</body>
</html>
`.text
}
