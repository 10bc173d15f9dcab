import type { Refusal } from '../../../routers/directory/refusals.ts'
import { printable } from '../line/table.ts'
import type { File } from './files.ts'

/** The number of refused rows that are listed per kind. */
const NAMED = 100

/** A merge numbers each row by its file's index within the kind, and the line. */
const LINES = 2 ** 32
export const encodeLine = (file: number, line: number) => file * LINES + line

/** A kind's refused or doubted rows. All of them are stored only for `--skip-refused`. */
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

  nameLine(number: number): string {
    return `${this.#files[Math.floor(number / LINES)]!.name}:${number % LINES}`
  }

  all(): Map<number, Refusal> {
    return new Map(this.#kept.map((refusal) => [refusal.line, refusal]))
  }

  /** A line for each, up to NAMED; the lines begin with `label`. */
  text(label = ''): string {
    const named = this.#inOrder().slice(0, NAMED)
    const lines = named.map(({ line, field, reason }) => {
      return `${label}${printable([this.nameLine(line), field, reason].filter(Boolean).join(': '))}\n`
    })
    const others = this.count - named.length
    return `${lines.join('')}${others > 0 ? `${label}and ${formatRowCount(others)} more\n` : ''}`
  }

  #inOrder() {
    return this.#kept.toSorted((a, b) => a.line - b.line)
  }
}

export const formatRowCount = (count: number) => (count === 1 ? '1 row' : `${count} rows`)
