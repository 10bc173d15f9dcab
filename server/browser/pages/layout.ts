import { languageNames, languages } from '../language.ts'
import { preloadTypeface } from '../look/typefaces.ts'
import type { PageContext } from '../page-context.ts'
import { readPath } from '../page-context.ts'
import { document as renderDocument } from './document.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import type { Problem } from './views.ts'

export const connectedLink = (context: Pick<PageContext, 'w' | 'path'>, text: string = context.w.connected) =>
  html`<a href="${readPath(context)}/connected">${text}</a>`

interface Page extends PageContext {
  title: string
  heading?: Html
  problem?: Problem | undefined
  body: Html
  /** Without the choice of a language, as the browser does not say to which page it belongs. */
  isForStrangers?: true
}

/** A problem comes first in the page. */
export function document({ w, path, brand, title, heading, problem, body, isForStrangers }: Page): string {
  const { mark, problemTitle, problems } = w
  return renderDocument({
    language: w.language,
    mark: brand?.name ?? mark,
    logo: brand?.logo && `${readPath({ path })}/logo/${brand.logo.version}`,
    title,
    heading,
    tab: problem && `${problemTitle}: ${title}`,
    style: html`${preloadTypeface(readPath({ path }))}
<link rel="stylesheet" href="${readPath({ path })}/style.css">`,
    below: isForStrangers ? undefined : languageChoice({ w, path }),
    body: html`${problem && html`<p class="problem" id="problem" role="alert">${problems[problem]}</p>`}
${body}`,
  })
}

const languageChoice = ({ w, path }: Pick<PageContext, 'w' | 'path'>) =>
  html`<form class="languages" method="post" action="${readPath({ path })}/language" aria-label="${w.chooseLanguage}">
${languages.map((language) => html`<button name="language" value="${language}" lang="${language}"${language === w.language && html` aria-current="true"`}>${languageNames[language]}</button> `)}
</form>
`

/** Connects a field to the page's problem and its hint, so that screen readers read them with the field. */
export const troubled = (problem: Problem | undefined, own: readonly Problem[], hint?: string) => {
  const ids = [problem && own.includes(problem) && 'problem', hint].filter(Boolean).join(' ')
  return html`${ids && html` aria-describedby="${ids}"`}${ids.includes('problem') && html` aria-invalid="true"`}`
}
