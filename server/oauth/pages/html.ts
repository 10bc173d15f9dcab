/** Text that is HTML already. Only `html` makes it, so no text of a user's can pass for it. */
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

/** HTML in which every value is text, of a node or of a quoted attribute, unless it is `Html` itself. */
export const html = (parts: TemplateStringsArray, ...values: Value[]) =>
  new Html(parts.map((part, index) => (index === 0 ? part : rendered(values[index - 1]) + part)).join(''))

/** A name as a user wrote it: whatever its direction, the text around it keeps its own. */
export const name = (text: string) => html`<bdi>${text}</bdi>`

export const strongName = (text: string) => html`<strong><bdi>${text}</bdi></strong>`
