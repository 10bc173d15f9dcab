/** `field` is empty when the record as a whole is at fault. */
export interface Refusal {
  /** Identifies the record to the caller: a line of a file, an index of a call. */
  line: number
  field: string
  /** One sentence with the value, shortened, and what is allowed. */
  reason: string
}

/** Formats a value for a reason, as JSON of at most 64 characters; spaces that look like others are escaped. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  const short = text.length > 64 ? `${text.slice(0, 63).replace(/\p{Cs}$/u, '')}…` : text
  return short.replace(/(?! )\p{Zs}/gu, (space) => `\\u${space.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Counts refusals, and stores the first hundred. */
export class Refusals {
  count = 0
  readonly first: Refusal[] = []
  readonly #onRefused: ((refusal: Refusal) => void) | undefined

  constructor(onRefused?: (refusal: Refusal) => void) {
    this.#onRefused = onRefused
  }

  add(refusal: Refusal) {
    this.count++
    if (this.first.length < 100) this.first.push(refusal)
    this.#onRefused?.(refusal)
  }
}
