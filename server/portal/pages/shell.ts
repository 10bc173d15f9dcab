import { pageContext, readPath } from '../../browser/page-context.ts'
import { brandMark } from '../../browser/pages/document.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'

export type Link = readonly [text: Html | string, address: string]

/** The links of a navigation. `current` is `page` for the page itself, and `true` for the one that it is below. */
export interface Navigation {
  label: string
  /** Leads to what is above all of them. */
  up?: Link | undefined
  links: readonly { link: Link; current: 'page' | 'true' | undefined }[]
}

/** Which of the links leads to the page, or to what it is below. */
export const navigation = (
  { own }: PageRequest,
  {
    label,
    up,
    links,
    current,
  }: Pick<Navigation, 'label' | 'up'> & { links: readonly Link[]; current: string | undefined },
): Navigation => ({
  label,
  up,
  links: links.map((link) => ({
    link,
    current: link[1] !== current ? undefined : own === link[1].replace(/\?.*/, '') ? 'page' : 'true',
  })),
})

export function shellHeader(request: PageRequest, team: { id: string; name: string } | undefined): Html {
  const { w, at, ctx, person } = request
  const context = pageContext(ctx)
  const { brand } = context
  const logo = brand?.logo && `${readPath(context)}/logo/${brand.logo.version}`
  return html`<header class="bar">
<a class="brand" href="${at()}">${brandMark(brand?.name ? `${brand.name} · ${w.mark}` : w.mark, logo)}</a>
<details class="menu switcher" name="menu"><summary>${team ? html`<span class="visually-hidden">${w.team}: </span>${name(team.name)}` : w.teams}</summary><ul>
${person.teams.map(({ id, name: title }) => html`<li><a href="${at('teams', id)}"${id === team?.id && html` aria-current="true"`}>${name(title)}</a></li>\n`)}<li><a href="${at()}">${w.teamsAll}</a></li>
</ul></details>
<form role="search" action="/docs/search"><label for="search" class="visually-hidden">${w.search}</label><input id="search" type="search" name="q" maxlength="100" placeholder="${w.search}" autocomplete="off"></form>
<a class="docs" href="/docs">${w.documentation}</a>
<details class="menu account" name="menu"><summary>${w.account}</summary><div data-theme-button>
<p>${w.signedIn(name(person.name))}</p>
<a href="${at('mails')}">${w.mails}</a>
<form method="post" action="${at('sign-out')}"><button>${w.signOut}</button></form>
</div></details>
</header>
`
}

const link = ({ link: [text, address], current }: Navigation['links'][number]) =>
  html`<a href="${address}"${current && html` aria-current="${current}"`}>${text}</a>`

export const sideNavigation = ({ label, up, links }: Navigation) => html`<nav class="side" aria-label="${label}"><ul>
${up && html`<li class="up"><a href="${up[1]}">${up[0]}</a></li>\n`}${links.map((one) => html`<li>${link(one)}</li>\n`)}</ul></nav>
`

export const breadcrumb = (label: string, trail: readonly Link[]) =>
  trail.length > 0 &&
  html`<nav class="trail" aria-label="${label}"><ol>
${trail.map(([text, address]) => html`<li><a href="${address}">${text}</a></li>`)}
</ol></nav>`
