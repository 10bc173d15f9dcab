import { html } from '../browser/pages/html.ts'
import type { Site } from '../docs/page.ts'
import { docsFrame } from '../docs/page.ts'
import type { Excerpt } from './excerpt.ts'

export interface Hit {
  title: string
  heading: string
  excerpt: Excerpt
  url: string
}

interface View {
  site: Site
  query: string
  /** False above the limit. */
  hits: readonly Hit[] | false
}

export const searchPage = ({ site, query, hits }: View): string =>
  docsFrame(site, {
    query,
    title: 'Search',
    tab: 'Search · Documentation',
    body: html`<p class="lead">${hits ? summary(query, hits.length) : 'Too many searches came from your network. Try again in a minute.'}</p>
${hits && hits.length > 0 ? html`<ol class="hits">${hits.map(hit)}</ol>` : html`<p>The <a href="/docs">overview</a> lists all pages, the <a href="${site.ways.urls.apps}/docs">API reference</a> all calls, and <a href="${site.ways.urls.apps}/docs/errors">Errors</a> every error.</p>`}`,
  })

function summary(query: string, count: number) {
  if (query === '') return 'Enter words, a status, or the name of an error, a call or a setting.'
  const shown = html`<b><bdi>${query}</bdi></b>`
  if (count === 0) return html`Nothing found for ${shown}.`
  return html`${count === 1 ? '1 result' : `${count} results`} for ${shown}`
}

const hit = ({ title, heading, excerpt, url }: Hit) =>
  html`<li><a href="${url}">${heading} <span>${title}</span></a><p>${excerpt.map((part, at) => (at % 2 === 1 ? html`<mark>${part}</mark>` : part))}</p></li>\n`
