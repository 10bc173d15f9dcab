import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

type Cell = Html | string | number

/**
 * Where it has no width for its columns, as on a phone, each row is a card in which every cell has its label, so that nothing is
 * cut. The roles are explicit, because browsers drop those of elements that are displayed as blocks. Numbers are at the right.
 */
export function table(caption: string, columns: readonly string[], rows: readonly (readonly Cell[])[]) {
  const isNumber = (at: number) => typeof rows[0]?.[at] === 'number'
  const head = columns.map(
    (column, at) => html`<th role="columnheader" scope="col"${isNumber(at) && html` class="number"`}>${column}</th>`,
  )
  const toCell = (cell: Cell, at: number) =>
    html`<td role="cell" data-label="${columns[at]}"${typeof cell === 'number' && html` class="number"`}>${cell}</td>`
  return html`<div class="table${columns.length > 5 && ' wide'}"><table role="table" aria-label="${caption}">
<thead role="rowgroup"><tr role="row">${head}</tr></thead>
<tbody role="rowgroup">
${rows.map((cells) => html`<tr role="row">${cells.map(toCell)}</tr>\n`)}</tbody>
</table></div>`
}
