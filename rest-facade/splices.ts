import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

/** Stands for a stored text while an answer is turned to JSON. Unguessable, so that no content can pass for one. */
const MARK = `splice:${randomUUID()}:`
const marks = new RegExp(`"${MARK}(\\d+)"`)

/** A text of this length has taken its part of a turn of the event loop when it was read from the database. */
const LARGE = 256 * 1024

/** The stored JSON texts of one answer, which go out as they are: byte for byte, and without the cost of parsing them. */
export class Splices {
  readonly #texts: string[] = []
  readonly #inLines: boolean
  #length = 0

  /** An answer that is read line by line gets texts without line breaks: outside of strings, where alone they can be. */
  constructor(inLines = false) {
    this.#inLines = inLines
  }

  /** What takes a text's place in the answer. */
  readonly hold = (text: string) => {
    this.#length += text.length
    return `${MARK}${this.#texts.push(this.#inLines ? text.replace(/[\r\n]/g, ' ') : text) - 1}`
  }

  /** The answer's JSON with the texts in their places. */
  async into(json: string): Promise<string> {
    if (this.#texts.length === 0) return json
    if (this.#length > LARGE) await nextTurn()
    // Every second part is the number of a text.
    const parts = json.split(marks)
    for (let i = 1; i < parts.length; i += 2) parts[i] = this.#texts[Number(parts[i])]!
    return parts.join('')
  }

  /** The same of a stream of whole lines. */
  intoLines(lines: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const decoder = new TextDecoder()
    const encoder = new TextEncoder()
    const splice = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) =>
        controller.enqueue(encoder.encode(await this.into(decoder.decode(chunk)))),
    })
    return lines.pipeThrough(splice)
  }
}

/** The first one still belongs to the turn in which the database's answer was read. */
async function nextTurn() {
  await setImmediate()
  await setImmediate()
}
