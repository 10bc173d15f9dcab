import type { Language } from '../language.ts'
import { preloadTypeface } from '../look/typefaces.ts'
import type { PageContext } from '../page-context.ts'
import { readPath } from '../page-context.ts'
import { document as renderDocument } from './document.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Problem } from './views.ts'
import { de } from './words-de.ts'
import type { Words } from './words-en.ts'
import { en } from './words-en.ts'

export const words: Record<Language, Words> = { en, de }

export const connectedLink = (
  context: Pick<PageContext, 'language' | 'path'>,
  text = words[context.language].connected,
) => html`<a href="${readPath(context)}/connected">${text}</a>`

interface Page extends PageContext {
  title: string
  heading?: Html
  problem?: Problem | undefined
  body: Html
}

/** A problem comes first in the page. */
export function document({ language, path, brand, title, heading, problem, body }: Page): string {
  const { mark, problemTitle, problems } = words[language]
  return renderDocument({
    language,
    mark: brand?.name ?? mark,
    logo: brand?.logo && `${readPath({ path })}/logo/${brand.logo.version}`,
    title,
    heading,
    tab: problem && `${problemTitle}: ${title}`,
    style: html`${preloadTypeface(readPath({ path }))}
<link rel="stylesheet" href="${readPath({ path })}/style.css">`,
    body: html`${problem && html`<p class="problem" id="problem" role="alert">${problems[problem]}</p>`}
${body}`,
  })
}

/** Connects a field to the page's problem and its hint, so that screen readers read them with the field. */
export const troubled = (problem: Problem | undefined, own: readonly Problem[], hint?: string) => {
  const ids = [problem && own.includes(problem) && 'problem', hint].filter(Boolean).join(' ')
  return html`${ids && html` aria-describedby="${ids}"`}${ids.includes('problem') && html` aria-invalid="true"`}`
}
