import type { Refusal } from '../../../routers/directory/refusals.ts'
import { printable } from '../printable.ts'
import type { File } from './files.ts'

/** As many refused rows of a kind are named. */
const NAMED = 100

/** A merge names a row by one number: the file's place among those of its kind, and the line. */
const LINES = 2 ** 32
export const numberOf = (file: number, line: number) => file * LINES + line

/** The refused rows of a kind. All of them are stored only for `--skip-refused`. */
export class Refusals {
  readonly #files: readonly File[]
  readonly #keepsAll: boolean
  #kept: Refusal[] = []
  count = 0

  constructor(files: readonly File[], keepsAll: boolean) {
    this.#files = files
    this.#keepsAll = keepsAll
  }

  add(refusal: Refusal) {
    this.count += 1
    this.#kept.push(refusal)
    if (!this.#keepsAll && this.#kept.length > 10 * NAMED) this.#kept = this.#inOrder().slice(0, NAMED)
  }

  /** `people.csv:7` */
  nameOf(number: number): string {
    return `${this.#files[Math.floor(number / LINES)]!.name}:${number % LINES}`
  }

  /** By the number of the row. */
  all(): Map<number, Refusal> {
    return new Map(this.#kept.map((refusal) => [refusal.line, refusal]))
  }

  /** A line for each of the first, and one for the others. */
  text(): string {
    const named = this.#inOrder().slice(0, NAMED)
    const lines = named.map(({ line, field, reason }) => {
      return `${printable([this.nameOf(line), field, reason].filter(Boolean).join(': '))}\n`
    })
    const others = this.count - named.length
    return `${lines.join('')}${others > 0 ? `and ${rowsOf(others)} more\n` : ''}`
  }

  #inOrder() {
    return this.#kept.toSorted((a, b) => a.line - b.line)
  }
}

export const rowsOf = (count: number) => (count === 1 ? '1 row' : `${count} rows`)
