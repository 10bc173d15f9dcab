import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'

/** The table of docs/webhooks.md: the beginning of an error, and the text of its row. */
const rows = [
  ['status ', 'status 500'],
  ['redirect ', 'redirect 301'],
  ['connect timeout', 'connect timeout'],
  ['timeout', 'timeout'],
  ['name ', 'name not found'],
  ['address not public', 'address not public'],
  ['certificate', 'certificate: …'],
  ['ECONN', 'ECONNREFUSED'],
  ['the subscription', 'the subscription has ended'],
] as const

/** Links to the row of the documentation: browsers that do not find a text in an address go to its heading. */
export function errorHelp({ w }: PageRequest, error: string) {
  const row = rows.find(([beginning]) => error.startsWith(beginning))?.[1]
  const found = row === undefined ? '' : `:~:text=${encodeURIComponent(row)}`
  return html`<a href="/docs/webhooks#try-it-with-the-service${found}">${w.remedy}<span class="visually-hidden"> ${error}</span></a>`
}
