import type { Html } from '../browser/pages/html.ts'
import { codeHtml, html } from '../browser/pages/html.ts'

/** A name with its colon, a string, or a number or word. */
const TOKEN = /("(?:[^"\\]|\\.)*")(?=\s*:)|("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*|true|false|null)/g

/** JSON with the classes that the build gives its words, for what only the running service knows. */
export function jsonHtml(value: unknown): Html {
  const text = JSON.stringify(value)
  let end = 0
  const parts = [...text.matchAll(TOKEN)].map(({ 0: found, 1: name, 2: string, index }) => {
    const before = text.slice(end, index)
    end = index + found.length
    const kind = name !== undefined ? 'type' : string !== undefined ? 'string' : 'constant'
    return html`${before}<span class="${kind}">${codeHtml(found)}</span>`
  })
  return html`${parts}${text.slice(end)}`
}
