import type { Html } from '../browser/pages/html.ts'
import { html } from '../browser/pages/html.ts'

/** In the colour of its kind. */
export const verb = (method: string): Html => html`<b class="${method.toLowerCase()}">${method}</b>`

/** A long path breaks before a slash. */
export const breakable = (path: string): Html =>
  html`${path.split(/(?<=.)(?=\/)/).map((part, at) => [at > 0 && html`<wbr>`, part])}`
