import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Language, Problem } from './views.ts'
import { de } from './words-de.ts'
import type { Words } from './words-en.ts'
import { en } from './words-en.ts'

export const words: Record<Language, Words> = { en, de }

/** A pennant. As a data URL it saves the browser's request for favicon.ico. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%231d5c43' d='M2 1h2v14H2zM5 2l10 4-10 4z'/%3E%3C/svg%3E"

const pennant = html`<svg viewBox="0 0 16 16" aria-hidden="true" focusable="false"><path d="M2 1h2v14H2zM5 2l10 4-10 4z"/></svg>`

interface Page {
  language: Language
  /** Without users' text: in a title its direction cannot be isolated. */
  title: string
  heading?: Html
  problem?: Problem | undefined
  body: Html
}

/** A complete document with one `main` and one `h1`; a problem comes first. */
export function document({ language, title, heading, problem, body }: Page): string {
  const { mark, problemTitle, problems } = words[language]
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${problem && `${problemTitle}: `}${title}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/v1/oauth/style.css">
</head>
<body>
<header>${pennant} ${mark}</header>
<main>
<h1>${heading ?? title}</h1>
${problem && html`<p class="problem" id="problem" role="alert">${problems[problem]}</p>`}
${body}
</main>
</body>
</html>
`.text
}

/** Connects a field to the page's problem and to its hint, so that screen readers read them with the field. */
export const troubled = (problem: Problem | undefined, own: readonly Problem[], hint?: string) => {
  const ids = [problem && own.includes(problem) && 'problem', hint].filter(Boolean).join(' ')
  return html`${ids && html` aria-describedby="${ids}"`}${ids.includes('problem') && html` aria-invalid="true"`}`
}
