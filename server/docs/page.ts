import type { Brand } from '../browser/brand.ts'
import { link, SKIP, side } from '../browser/docs-layout/docs-layout.ts'
import { themeScript } from '../browser/look/theme.ts'
import { preloadTypeface } from '../browser/look/typefaces.ts'
import { document } from '../browser/pages/document.ts'
import type { Html } from '../browser/pages/html.ts'
import { builtHtml, html } from '../browser/pages/html.ts'
import { words } from '../browser/pages/overview-words.ts'
import type { Running } from './addresses.ts'
import { fillAddresses } from './addresses.ts'
import type { Docs, DocsPage } from './docs.ts'
import { toPageAddress } from './docs.ts'

/** Addresses of this service that pages name and lead to. */
export interface Ways extends Running {
  /** Undefined with an external issuer. */
  portal?: string | undefined
}

/** The same for each page at an address of the service. */
export interface Site {
  docs: Docs
  brand: Brand | undefined
  ways: Ways
}

interface View extends Site {
  page: DocsPage
}

interface Frame {
  /** The page in the sidebar; undefined for the results of a search. */
  slug?: string
  /** In the field of the search. */
  query?: string
  title: string
  tab: string
  body: Html
}

export const LOGO = '/docs/images/logo'

/**
 * Readable without the scripts, which add results while one types, the copy buttons and the choice of a theme. In English, as the
 * Markdown is.
 */
export function docsPage(view: View): string {
  const { page, ways } = view
  return docsFrame(view, {
    slug: page.slug,
    title: page.heading,
    tab: page.slug === '' ? `Documentation · ${readMark(view)}` : `${page.heading} · Documentation`,
    body: html`${page.contents.length > 1 && contents(page)}
<div class="text${page.slug === '' && ' overview'}">
${builtHtml(fillAddresses(page.html, ways))}</div>
${pager(view)}`,
  })
}

const readMark = ({ brand }: Site) => brand?.name ?? words.en.mark

export const docsFrame = (site: Site, { title, tab, body, ...more }: Frame): string =>
  document({
    language: 'en',
    mark: readMark(site),
    logo: site.brand?.logo && LOGO,
    skip: SKIP,
    above: sidebar(site, more),
    title,
    tab,
    style: html`${themeScript('/docs', 'en')}
${preloadTypeface('/docs')}
<link rel="stylesheet" href="/docs/style.css">
<script type="module" src="/docs/script.js"></script>`,
    body,
  })

function sidebar({ docs, ways }: Site, { slug: current, query }: Pick<Frame, 'slug' | 'query'>) {
  const bySlug = new Map(docs.pages.map((one) => [one.slug, one]))
  const item = (slug: string) => link(toPageAddress(slug), bySlug.get(slug)!.title, slug === current)
  const here = [
    link(`${ways.urls.apps}/docs`, 'API reference'),
    link(`${ways.urls.apps}/docs/errors`, 'Errors'),
    ...(ways.portal ? [link(ways.portal, 'Developer portal')] : []),
  ]
  const groups = docs.groups.map(({ title, slugs }) => ({ title, items: slugs.map(item) }))
  return side({
    query,
    label: 'Documentation',
    summary: 'All pages',
    first: item(''),
    groups: [...groups, { title: 'On this service', items: here }],
  })
}

const contents = ({
  contents,
}: DocsPage) => html`<nav class="contents" aria-label="On this page"><details><summary>On this page</summary>
<ul>${contents.map(({ id, text, depth }) => html`<li${depth > 2 && html` class="deep"`}><a href="#${id}">${text}</a></li>`)}</ul></details></nav>`

function pager({ docs: { pages }, page }: View) {
  const at = pages.indexOf(page)
  const way = (to: DocsPage | undefined, rel: 'prev' | 'next', text: string) =>
    to && html`<a rel="${rel}" href="${toPageAddress(to.slug)}"><span>${text}</span> ${to.title}</a>`
  return html`<nav class="pager" aria-label="Previous and next page">${way(pages[at - 1], 'prev', 'Previous')}${way(pages[at + 1], 'next', 'Next')}</nav>`
}
