import type { Language } from '../../browser/language.ts'
import { themeScript } from '../../browser/look/theme.ts'
import { preloadTypeface } from '../../browser/look/typefaces.ts'
import { pageContext, readPath } from '../../browser/page-context.ts'
import { document } from '../../browser/pages/document.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import { de } from './words-de.ts'
import type { Words } from './words-en.ts'
import { en } from './words-en.ts'

export const missingPage = (request: PageRequest): string =>
  portalPage(
    { ...request, query: new URLSearchParams() },
    {
      title: request.w.missing,
      body: html`<p class="lead">${request.w.missingHint}</p>
<p class="links"><a href="${request.at()}">${request.w.back}</a></p>`,
    },
  )

export const words: Record<Language, Words> = { en, de }

export type Link = readonly [text: Html | string, address: string]

interface Page {
  /** Without users' text. */
  title: string
  heading?: Html | undefined
  trail?: readonly Link[]
  beside?: { label: string; links: readonly { link: Link; current: boolean }[] }
  body: Html
}

export function portalPage(request: PageRequest, { title, heading, trail = [], beside, body }: Page): string {
  const { w, language, refused, query, at } = request
  const done = query.get('done') ?? ''
  const { brand, ...context } = pageContext(request.ctx)
  const path = readPath(context)
  return document({
    language,
    mark: brand?.name ? `${brand.name} · ${w.mark}` : w.mark,
    logo: brand?.logo && `${path}/logo/${brand.logo.version}`,
    skip: w.skip,
    above: above(request, trail),
    title,
    heading,
    tab: refused && `${w.problem}: ${title}`,
    style: html`${themeScript(path, language)}
${preloadTypeface(path)}
<link rel="stylesheet" href="${path}/style.css">
<link rel="stylesheet" href="${at('style.css')}">
<script src="${at('script.js')}" defer data-copy="${w.copy}" data-copied="${w.copied}"></script>`,
    body: html`${beside && tabs(beside)}
${refused && html`<div class="problem" role="alert" id="problem">${refused.problems.map(({ text }) => html`<p>${text}</p>`)}</div>`}
${!refused && Object.hasOwn(w.done, done) && html`<p class="done" role="status">${w.done[done as keyof Words['done']]}</p>`}
${body}`,
  })
}

const above = ({ w, at, person }: PageRequest, trail: readonly Link[]) => html`<div class="portal">
<nav class="trail" aria-label="${w.trail}"><ol>
${[[w.teams, at()] as Link, ...trail].map(([text, address]) => html`<li><a href="${address}">${text}</a></li>`)}
</ol></nav>
<form method="post" action="${at('sign-out')}" aria-label="${w.account}"><span>${w.signedIn(name(person.name))}</span> <a href="/docs">${w.documentation}</a> <a href="${at('mails')}">${w.mails}</a> <button>${w.signOut}</button></form>
</div>`

const tabs = ({ label, links }: NonNullable<Page['beside']>) => html`<nav class="tabs" aria-label="${label}">
${links.map(({ link: [text, address], current }) => html`<a href="${address}"${current && html` aria-current="page"`}>${text}</a>`)}
</nav>`
