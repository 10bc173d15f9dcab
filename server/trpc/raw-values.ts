import { randomUUID } from 'node:crypto'
import { errors } from '../../routers/kernel/errors.ts'
import type { JsonText } from '../../routers/kernel/raw-json/text.ts'
import { MAX_NESTING, rawJsonOf } from '../../routers/kernel/raw-json/text.ts'

/** Stands for a value while its input is parsed; unguessable, so that no client can name another's. */
const PREFIX = `value:${randomUUID()}:`

/** A request's values that stay text, as over REST: they may be megabytes, and parsing takes 28 times their length. */
export class RawValues {
  readonly #values: { text: JsonText; nesting: number }[] = []

  /** Stores a value's text and returns its placeholder. */
  insert(text: JsonText, nesting: number): string {
    return `${PREFIX}${this.#values.push({ text, nesting }) - 1}`
  }

  /** Returns the text behind a placeholder, or of a parsed value. Throws 400. */
  readonly textOf = async (value: unknown): Promise<JsonText> => {
    const isPlaceholder = typeof value === 'string' && value.startsWith(PREFIX)
    const found = isPlaceholder ? this.#values[Number(value.slice(PREFIX.length))] : undefined
    if (!found) return rawJsonOf(value)
    if (found.nesting > MAX_NESTING) throw errors.valueTooDeep()
    return found.text
  }
}
