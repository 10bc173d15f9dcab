import type { PortalLanguage } from '../../browser/language.ts'
import { banner } from '../../browser/look/components/banner.ts'
import type { Tab } from '../../browser/look/components/tabs.ts'
import { tabs } from '../../browser/look/components/tabs.ts'
import { themeScript } from '../../browser/look/theme.ts'
import { preloadTypeface } from '../../browser/look/typefaces.ts'
import { pageContext, readPath } from '../../browser/page-context.ts'
import { document } from '../../browser/pages/document.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import type { Link, Navigation } from './shell.ts'
import { breadcrumb, shellHeader, sideNavigation } from './shell.ts'
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

export const words: Record<PortalLanguage, Words> = { en, de }

interface Page {
  /** Without users' text. */
  title: string
  /** What the page is about, above the heading: a team, an app or a client. */
  subject?: Html | undefined
  heading?: Html | undefined
  /** The team that the page is of. */
  team?: { id: string; name: string }
  beside?: Navigation
  trail?: readonly Link[]
  tabs?: { label: string; all: readonly Tab[] }
  body: Html
}

export function portalPage(request: PageRequest, { title, subject, heading, ...page }: Page): string {
  const { w, language, refused, query, at } = request
  const done = query.get('done') ?? ''
  const { brand, ...context } = pageContext(request.ctx)
  const path = readPath(context)
  return document({
    language,
    mark: w.mark,
    logo: brand?.logo && `${path}/logo/${brand.logo.version}`,
    skip: w.skip,
    header: shellHeader(request, page.team),
    above: page.beside && sideNavigation(page.beside),
    title,
    heading: subject ?? heading,
    tab: refused && `${w.problem}: ${title}`,
    style: html`${themeScript(path, language)}
${preloadTypeface(path)}
<link rel="stylesheet" href="${path}/style.css">
<link rel="stylesheet" href="${at('style.css')}">
<script src="${at('script.js')}" defer data-copy="${w.copy}" data-copied="${w.copied}"></script>`,
    body: html`${breadcrumb(w.trail, page.trail ?? [])}${page.tabs && tabs(page.tabs.label, page.tabs.all)}
${subject && html`<h2 class="section">${heading ?? title}</h2>`}
${refused && banner('bad', html`${refused.problems.map(({ text }) => html`<p>${text}</p>`)}`, { role: 'alert', id: 'problem' })}
${!refused && Object.hasOwn(w.done, done) && banner('good', w.done[done as keyof Words['done']], { role: 'status' })}
${page.body}${request.isPending && html`<p hidden data-pending></p>`}`,
  })
}
