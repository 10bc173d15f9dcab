import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'

export interface Field {
  id: string
  name: string
  label: Html | string
  value?: string | undefined
  hint?: string | undefined
  type?: 'text' | 'email' | 'url' | 'password'
  required?: boolean
  maxlength?: number
  problem?: FieldProblem | undefined
}

export interface FieldProblem {
  texts: readonly (Html | string)[]
  /** Of the first field at fault. */
  focus: boolean
}

const above = ({ id, label, hint, problem }: Field) => html`<label for="${id}">${label}</label>
${hint && html`<p class="hint" id="${id}-hint">${hint}</p>`}
${problem && problemText(id, problem)}`

export const problemText = (id: string, { texts }: FieldProblem) =>
  html`<p class="wrong" id="${id}-problem">${texts.map((text) => html`<span>${text}</span> `)}</p>`

/** Attributes of the control. */
export function marks({ id, hint, problem }: Pick<Field, 'id' | 'hint' | 'problem'>) {
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return html`${described && html` aria-describedby="${described}"`}${problem && html` aria-invalid="true"`}${problem?.focus && html` autofocus`}`
}

export const field = (given: Field) => {
  const { id, name, value = '', type = 'text', required = false, maxlength } = given
  return html`<div class="field">${above(given)}
<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="off" spellcheck="false"${required && html` required`}${maxlength !== undefined && html` maxlength="${maxlength}"`}${marks(given)}></div>`
}

export const upload = ({ accept, ...given }: Field & { accept: string }) => html`<div class="field">${above(given)}
<input id="${given.id}" name="${given.name}" type="file" accept="${accept}" required${marks(given)}></div>`

/** The line break after the tag is not part of the text. */
export const area = (given: Field, rows: number) => html`<div class="field">${above(given)}
<textarea id="${given.id}" name="${given.name}" rows="${rows}" spellcheck="false"${given.required && html` required`}${marks(given)}>
${given.value ?? ''}</textarea></div>`

export const choice = (given: Field, options: readonly (readonly [value: string, text: string])[]) =>
  html`<div class="field">${above(given)}
<select id="${given.id}" name="${given.name}"${marks(given)}>${options.map(
    ([one, text]) => html`<option value="${one}"${one === given.value && html` selected`}>${text}</option>`,
  )}</select></div>`

export const hidden = (name: string, value: string | number) =>
  html`<input type="hidden" name="${name}" value="${value}">`

/** Text to copy: the script adds a button, which is named by `label`. */
export const copyable = (label: string, text: string) => html`<code data-copy="${label}">${text}</code>`

export const fact = (label: string, value: Html | string | number) =>
  html`<div><dt>${label}</dt><dd>${value}</dd></div>`
