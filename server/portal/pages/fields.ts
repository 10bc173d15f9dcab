import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'

/** The values typed into the refused form; undefined for other forms of the page. */
export const typedIn = ({ refused }: Visit, form: string) => (refused?.action === form ? refused.form : undefined)

interface Field {
  id: string
  name: string
  label: string
  value?: string | undefined
  hint?: string | undefined
  type?: 'text' | 'email' | 'url' | 'password'
  required?: boolean
  maxlength?: number
}

const hinted = (id: string, hint: string | undefined) => hint && html`<p class="hint" id="${id}-hint">${hint}</p>`
const describedBy = (id: string, hint: string | undefined) => hint && html` aria-describedby="${id}-hint"`

export const field = ({ id, name, label, value = '', hint, type = 'text', required = false, maxlength }: Field) =>
  html`<div class="field"><label for="${id}">${label}</label>
${hinted(id, hint)}
<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="off" spellcheck="false"${required && html` required`}${maxlength !== undefined && html` maxlength="${maxlength}"`}${describedBy(id, hint)}></div>`

export const upload = ({ id, name, label, hint, accept }: Field & { accept: string }) =>
  html`<div class="field"><label for="${id}">${label}</label>
${hinted(id, hint)}
<input id="${id}" name="${name}" type="file" accept="${accept}" required${describedBy(id, hint)}></div>`

/** The line break after the tag is not part of the text. */
export const area = ({ id, name, label, value = '', hint, required = false }: Field, rows: number) =>
  html`<div class="field"><label for="${id}">${label}</label>
${hinted(id, hint)}
<textarea id="${id}" name="${name}" rows="${rows}" spellcheck="false"${required && html` required`}${describedBy(id, hint)}>
${value}</textarea></div>`

export const choice = (
  { id, name, label, value, hint }: Field,
  options: readonly (readonly [value: string, text: string])[],
) => html`<div class="field"><label for="${id}">${label}</label>
${hinted(id, hint)}
<select id="${id}" name="${name}"${describedBy(id, hint)}>${options.map(
  ([one, text]) => html`<option value="${one}"${one === value && html` selected`}>${text}</option>`,
)}</select></div>`

export const hidden = (name: string, value: string | number) =>
  html`<input type="hidden" name="${name}" value="${value}">`

export const fact = (label: string, value: Html | string | number) =>
  html`<div><dt>${label}</dt><dd>${value}</dd></div>`
