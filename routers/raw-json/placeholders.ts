import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** Stands for a stored text while an answer is turned to JSON. Unguessable, so that no content can pass for one. */
const MARK = `splice:${randomUUID()}:`
const marks = new RegExp(`"${MARK}(\\d+)"`)

/** An answer that is a stored text and nothing else. */
const SOLE = `"${MARK}0"`

/** A text of this length has taken its part of a turn of the event loop when it was read from the database. */
const LARGE = 256 * 1024

/** The stored JSON texts of one answer, which go out as they are: byte for byte, and without the cost of parsing them. */
export class Placeholders {
  readonly #texts: (readonly string[])[] = []
  readonly #inLines: boolean
  #length = 0

  /** An answer that is read line by line gets texts without line breaks: outside of strings, where alone they can be. */
  constructor(inLines = false) {
    this.#inLines = inLines
  }

  /** What takes the place of a text, given in pieces, in the answer. */
  readonly insert = (pieces: readonly string[]) => {
    for (const piece of pieces) this.#length += piece.length
    return `${MARK}${this.#texts.push(this.#inLines ? pieces.map((piece) => piece.replace(/[\r\n]/g, ' ')) : pieces) - 1}`
  }

  /** The answer's JSON with the texts in their places; a large one as bytes, as a text would take up to thrice its memory. */
  render(json: string): string | Promise<Buffer> {
    if (this.#texts.length === 0) return json
    if (json === SOLE && this.#length <= LARGE) return this.#texts[0]!.join('')
    // Every second part is the number of a text.
    const parts = json.split(marks)
    if (this.#length <= LARGE)
      return parts.map((part, i) => (i % 2 ? this.#texts[Number(part)]!.join('') : part)).join('')
    return largeBytesOf(parts.flatMap((part, i) => (i % 2 ? this.#texts[Number(part)]! : part)))
  }

  /** The same of a stream of whole lines. */
  renderLines(lines: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const decoder = new TextDecoder()
    const splice = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => controller.enqueue(Buffer.from(await this.render(decoder.decode(chunk)))),
    })
    return lines.pipeThrough(splice)
  }
}

/** In a turn of its own: the first one still belongs to that in which the database's answer was read. */
async function largeBytesOf(pieces: string[]): Promise<Buffer> {
  await setImmediate()
  await setImmediate()
  // Each piece is written to its place at once: joined first, they would be copied twice.
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0))
  let at = 0
  for (const piece of pieces) at += bytes.write(piece, at)
  return bytes
}
