import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { JsonText } from './text.ts'
import { LARGE_TEXT } from './text.ts'

/** Stands for a stored text while a response is serialised; unguessable, so that no content can imitate it. */
const PREFIX = `placeholder:${randomUUID()}:`
const QUOTED = `"${PREFIX}`

/** The stored JSON texts of one response: they leave byte for byte, and are never parsed. */
export class Placeholders {
  /** By the number in the placeholder, in its digits. */
  readonly #texts = new Map<string, readonly JsonText[]>()
  #count = 0
  readonly #asLines: boolean

  /**
   * `asLines`: the response is read line by line, so line breaks in texts (outside of strings) become spaces. It may be endless:
   * each text is rendered once.
   */
  constructor(asLines = false) {
    this.#asLines = asLines
  }

  /** Stores a text, given in pieces, and returns its placeholder. */
  readonly insert = (pieces: readonly JsonText[]): string => {
    const text = this.#asLines ? pieces.map((piece) => piece.toString().replace(/[\r\n]/g, ' ')) : pieces
    const at = String(this.#count++)
    this.#texts.set(at, text)
    return PREFIX + at
  }

  /** Replaces the placeholders in `json`. Large results are bytes, as a string takes up to three times their memory. */
  async render(json: string): Promise<string | Buffer> {
    if (this.#texts.size === 0) return json
    const pieces: JsonText[] = []
    let [from, length] = [0, 0]
    for (let start = json.indexOf(QUOTED); start >= 0; start = json.indexOf(QUOTED, start + 1)) {
      const end = json.indexOf('"', start + QUOTED.length)
      const at = json.slice(start + QUOTED.length, end)
      const text = this.#texts.get(at)
      if (!text) continue
      pieces.push(json.slice(from, start), ...text)
      for (const piece of text) length += piece.length
      if (this.#asLines) this.#texts.delete(at)
      from = end + 1
    }
    pieces.push(json.slice(from))
    return length <= LARGE_TEXT ? pieces.join('') : toBytes(pieces)
  }

  /** The same for a stream of whole lines. */
  renderLines(lines: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const decoder = new TextDecoder()
    const rendered = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => controller.enqueue(Buffer.from(await this.render(decoder.decode(chunk)))),
    })
    return lines.pipeThrough(rendered)
  }
}

/** How many characters are measured or written before other requests get their turn: 1 ms. */
const TURN_CHARACTERS = 1024 * 1024

/** Waits twice: the first immediate still runs in the turn in which the rows were read. */
async function toBytes(pieces: JsonText[]): Promise<Buffer> {
  await setImmediate()
  await setImmediate()
  let size = 0
  await inTurns(pieces, (piece) => (size += Buffer.byteLength(piece)))
  // Written piece by piece: joined first, they would be copied twice.
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  await inTurns(pieces, (piece) => (at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at)))
  return bytes
}

/** A batch may have ten pieces of 5 MB, which take 50 ms. */
async function inTurns(pieces: JsonText[], work: (piece: JsonText) => void) {
  let done = 0
  for (const piece of pieces) {
    work(piece)
    done += piece.length
    if (done < TURN_CHARACTERS) continue
    done = 0
    await setImmediate()
  }
}
