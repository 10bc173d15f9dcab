import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { envelope } from '../../rest-facade/envelope.ts'
import type { CatalogueRow } from '../../routers/kernel/errors.ts'
import { errorCatalogue } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { themeScript } from '../browser/look/theme.ts'
import { preloadTypeface } from '../browser/look/typefaces.ts'
import { html } from '../browser/pages/html.ts'
import { jsonHtml } from './json-html.ts'
import type { Reference } from './page.ts'
import { shell } from './page.ts'
import { sidebar } from './sidebar.ts'

/**
 * Lists every error with its body, cause and remedy, those of this API first. The ids are stable: documents, programs and bookmarks
 * link to them.
 */
export function errorsPage({ api, section, urls, brand }: Reference): string {
  const catalogue = errorCatalogue()
  const own = catalogue.filter((row) => appliesTo(row, section))
  const others = catalogue.filter((row) => !appliesTo(row, section))
  const ownStatuses = new Set(own.map(({ error }) => error.status))
  return shell(
    'Errors',
    brand,
    sidebar({ api, section, urls, page: 'errors' }),
    html`${themeScript('.', 'en')}
${preloadTypeface('.')}
<link rel="stylesheet" href="style.css">
<script type="module" src="frame.js"></script>`,
    html`<p class="lead">Every error of this service: its body as sent, its cause, and its remedy. Each response also has <code>X-Request-Id</code>, which an operator can look up.</p>
${byStatus(own, section, (status) => `status-${status}`)}
<h2 id="elsewhere">Other APIs and tRPC</h2>
${byStatus(others, section, (status) => (ownStatuses.has(status) ? `elsewhere-${status}` : `status-${status}`))}`,
  )
}

const listPlaces = (place: CatalogueRow['place']) => place.split(/, | and /)

const appliesTo = ({ place }: CatalogueRow, section: Section) =>
  place === 'every API' || listPlaces(place).includes(section)

const byStatus = (
  rows: readonly CatalogueRow[],
  section: Section,
  toId: (status: CatalogueRow['error']['status']) => string,
) =>
  [...new Set(rows.map(({ error }) => error.status))].map((status) => {
    const some = rows.filter(({ error }) => error.status === status)
    return html`<h2 id="${toId(status)}">${status} <code>${some[0]!.error.publicCode}</code></h2>
${some.map((row) => entry(row, section))}`
  })

const entry = (row: CatalogueRow, section: Section) =>
  html`<section class="error" id="${row.id}"><h3><a href="#${row.id}">${row.id}</a> <small>${row.place}</small></h3><pre><code>${jsonHtml(formatBody(row, section))}</code></pre><p><b>Cause:</b> ${row.cause}</p><p><b>What to do:</b> ${row.fix}</p></section>`

const formatBody = ({ error, place }: CatalogueRow, section: Section) => {
  if (place === 'tRPC') return trpcBody(error)
  if (place === 'every API') return envelope(error, section, '3f0c9a52')
  const sections = listPlaces(place) as Section[]
  return envelope(error, sections.includes(section) ? section : sections[0]!, '3f0c9a52')
}

/** Matches the formatter in routers/kernel/trpc.ts. */
const trpcBody = ({ code, message, status, publicCode, reason, refused }: CatalogueRow['error']) => {
  const data = { code, httpStatus: status, path: '…', error: publicCode, reason, refused }
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[code], data } }
}
