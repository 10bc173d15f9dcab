import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { envelope } from '../../rest-facade/envelope.ts'
import type { CatalogueRow } from '../../routers/kernel/error-catalogue.ts'
import { errorCatalogue } from '../../routers/kernel/error-catalogue.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { preloadTypeface } from '../browser/look/typefaces.ts'
import { codeHtml, html } from '../browser/pages/html.ts'
import type { Reference } from './page.ts'
import { shell } from './page.ts'
import { sidebar } from './sidebar.ts'

/** Lists every error with its body, cause and remedy. The ids are stable: documents, programs and bookmarks link to them. */
export function errorsPage({ api, section, urls, brand }: Reference): string {
  const catalogue = errorCatalogue()
  const groups = [...new Set(catalogue.map(({ error }) => error.status))].map((status) => {
    const rows = catalogue.filter(({ error }) => error.status === status)
    return { status, code: rows[0]!.error.publicCode, rows }
  })
  return shell(
    'Errors',
    brand,
    sidebar({ api, section, urls, page: 'errors' }),
    html`${preloadTypeface('.')}
<link rel="stylesheet" href="style.css">
<script type="module" src="frame.js"></script>`,
    html`<p class="lead">Every error of this service: its body as sent, its cause, and its remedy. Each response also has <code>X-Request-Id</code>, which an operator can look up.</p>
${groups.map(
  ({ status, code, rows }) => html`<h2 id="status-${status}">${status} <code>${code}</code></h2>
${rows.map((row) => entry(row, section))}`,
)}`,
  )
}

const entry = (row: CatalogueRow, section: Section) =>
  html`<section class="error" id="${row.id}"><h3><a href="#${row.id}">${row.id}</a> <small>${row.place}</small></h3><pre><code>${codeHtml(JSON.stringify(formatBody(row, section)))}</code></pre><p><b>Cause:</b> ${row.cause}</p><p><b>What to do:</b> ${row.fix}</p></section>`

const formatBody = ({ error, place }: CatalogueRow, section: Section) => {
  if (place === 'tRPC') return trpcBody(error)
  if (place === 'every API') return envelope(error, section, '3f0c9a52')
  const sections = place.split(/, | and /) as Section[]
  return envelope(error, sections.includes(section) ? section : sections[0]!, '3f0c9a52')
}

/** Matches the formatter in routers/kernel/trpc.ts. */
const trpcBody = ({ code, message, status, publicCode, reason, refused }: CatalogueRow['error']) => {
  const data = { code, httpStatus: status, path: '…', error: publicCode, reason, refused }
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[code], data } }
}
