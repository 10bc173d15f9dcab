import type { Html } from '../../pages/html.ts'
import { html } from '../../pages/html.ts'

export type Text = Html | string
export type Options = readonly (readonly [value: string, text: Text])[]

export interface Problem {
  texts: readonly Text[]
  /** Whether it is at the form's first field at fault. */
  focus: boolean
}

export interface Control {
  id: string
  name: string
  label: Text
  hint?: Text | undefined
  problem?: Problem | undefined
}

export interface TextControl extends Control {
  value: string
  required: boolean
  maxLength?: number | undefined
}

const hintText = ({ id, hint }: Control) => hint && html`<p class="hint" id="${id}-hint">${hint}</p>`

const problemText = ({ id, problem }: Control) =>
  problem && html`<p class="wrong" id="${id}-problem">${problem.texts.map((text) => html`<span>${text}</span> `)}</p>`

/** The names of its description, and whether it is at fault. */
const described = ({ id, hint, problem }: Control) => {
  const ids = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return html`${ids && html` aria-describedby="${ids}"`}${problem && html` aria-invalid="true"`}`
}

const attributes = (control: Control) => html`${described(control)}${control.problem?.focus && html` autofocus`}`

const labelled = (
  control: Control,
  body: Html,
) => html`<div class="field"><label for="${control.id}">${control.label}</label>
${hintText(control)}
${problemText(control)}
${body}</div>`

export const textInput = (control: TextControl, type: 'text' | 'url' | 'email') => {
  const { id, name, value, required, maxLength } = control
  return labelled(
    control,
    html`<input id="${id}" name="${name}" type="${type}" value="${value}" autocomplete="off" spellcheck="false"${required && html` required`}${maxLength !== undefined && html` maxlength="${maxLength}"`}${attributes(control)}>`,
  )
}

/** Without a `maxlength`: browsers cut off what is pasted. The line break after the tag is not part of the text. */
export const textArea = (control: TextControl, rows: number) => {
  const { id, name, value, required } = control
  return labelled(
    control,
    html`<textarea id="${id}" name="${name}" rows="${rows}" spellcheck="false"${required && html` required`}${attributes(control)}>
${value}</textarea>`,
  )
}

export const select = (control: Control & { value?: string | undefined }, options: Options) =>
  labelled(
    control,
    html`<select id="${control.id}" name="${control.name}"${attributes(control)}>${options.map(
      ([one, text]) => html`<option value="${one}"${one === control.value && html` selected`}>${text}</option>`,
    )}</select>`,
  )

export const fileInput = (control: Control, accept: string) =>
  labelled(
    control,
    html`<input id="${control.id}" name="${control.name}" type="file" accept="${accept}" required${attributes(control)}>`,
  )

export const checkBox = (control: Control, checked: boolean) => html`<div class="check"><label class="choice">${box(
  control,
  'yes',
  { checked, more: attributes(control) },
)}<span>${control.label}</span></label>
${hintText(control)}
${problemText(control)}</div>`

const box = (
  { name }: Control,
  value: string,
  { checked, more }: { checked: boolean; more: Html | false | undefined },
) => html`<input type="checkbox" name="${name}" value="${value}"${checked && html` checked`}${more}>`

/** The first field says that the group was sent, where no box is ticked. */
export const checkBoxes = (control: Control, ticked: readonly string[], options: Options) =>
  group(
    control,
    html`<input type="hidden" name="${control.name}" value="">
${options.map(
  ([value, text], at) => html`<label class="choice">${box(control, value, {
    checked: ticked.includes(value),
    more: control.problem?.focus && at === 0 && html` autofocus`,
  })}
<span>${text}</span></label>
`,
)}`,
  )

export const group = (control: Control, body: Html) => html`<fieldset${described(control)}>
<legend>${control.label}</legend>
${hintText(control)}
${problemText(control)}
${body}</fieldset>`
