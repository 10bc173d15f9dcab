import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'

/** Text to copy: the script adds a button, which is named by `label`. */
export const copyable = (label: string, text: string) => html`<code data-copy="${label}">${text}</code>`

export const fact = (label: string, value: Html | string | number) =>
  html`<div><dt>${label}</dt><dd>${value}</dd></div>`

type Cell = Html | string | number

/**
 * On a phone each row is a block in which every cell is labelled. The roles are explicit, because browsers drop those of elements
 * that are displayed as blocks.
 */
export const table = (caption: string, columns: readonly string[], rows: readonly (readonly Cell[])[]) =>
  html`<table role="table" aria-label="${caption}">
<thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  (cells) => html`<tr role="row">${cells.map(
    (cell, at) => html`<td role="cell" data-label="${columns[at]}">${cell}</td>`,
  )}</tr>
`,
)}</tbody>
</table>`
