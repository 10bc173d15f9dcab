/** Text that is already HTML. Only this file creates it, so that users' text cannot be mistaken for it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | readonly Value[] | null | undefined | false

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character]!)

function rendered(value: Value): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(rendered).join('')
  return value === null || value === undefined || value === false ? '' : escaped(String(value))
}

/** Escapes every value, for text nodes and quoted attributes; inserts `Html` as it is. */
export const html = (parts: TemplateStringsArray, ...values: Value[]) =>
  new Html(parts.map((part, index) => (index === 0 ? part : rendered(values[index - 1]) + part)).join(''))

/** Isolates a user's text, so that its direction does not affect the text around it. */
export const name = (text: string) => html`<bdi>${text}</bdi>`

export const strongName = (text: string) => html`<strong><bdi>${text}</bdi></strong>`

/** Inserts the sheet unescaped: only for this service's own sheets, never for users' text. */
export const styleElement = (sheet: string) => new Html(`<style>${sheet}</style>`)

/** For text nodes only: quotes stay, which is a sixth of a page of JSON. */
export const codeHtml = (text: string) => new Html(text.replace(/[&<>]/g, (character) => entities[character]!))

/** Inserts what the build made of this repository's own Markdown: never users' text. */
export const builtHtml = (text: string) => new Html(text)

/** Inserts what a library drew from numbers: never users' text. */
export const svgHtml = (svg: string) => new Html(svg)
