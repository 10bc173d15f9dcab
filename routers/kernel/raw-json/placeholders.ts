import { randomUUID } from 'node:crypto'
import { errors } from '../errors.ts'
import { cutText } from './cutter.ts'
import type { Member } from './scanner.ts'
import type { JsonText } from './text.ts'
import { LARGE_TEXT, MAX_NESTING, serialiseValue } from './text.ts'
import { textOrBytes } from './text-or-bytes.ts'

/** Stands for a text while what is around it is parsed or serialised; unguessable, so that no content can imitate it. */
const PREFIX = `placeholder:${randomUUID()}:`
const QUOTED = `"${PREFIX}`
/** The same for a value of a request. */
const VALUE_PREFIX = `value:${randomUUID()}:`

/** A value of a request. `minBytes`: a lower bound of its size while it is not read; 0 if unknown. */
interface RequestValue {
  minBytes: number
  read: () => JsonText | Promise<JsonText>
}

/**
 * The JSON texts of one request that are never parsed: parsing takes 28 times their length. Values that come are stored, and stored
 * ones leave, byte for byte.
 */
export class Placeholders {
  /** What the response inserts, by the number in the placeholder, in its digits. */
  readonly #texts = new Map<string, readonly JsonText[]>()
  /** What came with the request, by the number in the placeholder. */
  readonly #values: RequestValue[] = []
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
    return this.#add(this.#asLines ? pieces.map((piece) => piece.toString().replace(/[\r\n]/g, ' ')) : pieces)
  }

  /** The same for a text that is on one line already: a result that is nothing else is this text, and no copy. */
  readonly insertLine = (text: JsonText): string => this.#add([text])

  #add(pieces: readonly JsonText[]): string {
    const at = String(this.#count++)
    this.#texts.set(at, pieces)
    return PREFIX + at
  }

  /** Stores a value of the request, which is read when its procedure asks for it, and returns its placeholder. */
  insertValue(minBytes: number, read: RequestValue['read']): string {
    return VALUE_PREFIX + (this.#values.push({ minBytes, read }) - 1)
  }

  /** The same for a part of its body. */
  insertCut(bytes: Buffer, cut: Member): string {
    return this.insertValue(0, () => readCut(bytes, cut))
  }

  /** The text behind a placeholder of the request, or of a value that came parsed. Throws 400. */
  readonly toText = async (value: unknown): Promise<JsonText> => {
    const found = this.#find(value)
    return found ? found.read() : serialiseValue(value)
  }

  readonly readMinBytes = (value: unknown): number => this.#find(value)?.minBytes ?? 0

  #find(value: unknown): RequestValue | undefined {
    const isPlaceholder = typeof value === 'string' && value.startsWith(VALUE_PREFIX)
    return isPlaceholder ? this.#values[Number(value.slice(VALUE_PREFIX.length))] : undefined
  }

  /** Replaces the placeholders in `json`. Large results are bytes, as a string takes up to three times their memory. */
  async render(json: string): Promise<string | Buffer> {
    if (this.#texts.size === 0) return json
    const pieces: JsonText[] = []
    let from = 0
    for (let start = json.indexOf(QUOTED); start >= 0; start = json.indexOf(QUOTED, start + 1)) {
      const end = json.indexOf('"', start + QUOTED.length)
      const at = json.slice(start + QUOTED.length, end)
      const text = this.#texts.get(at)
      if (!text) continue
      if (this.#asLines) this.#texts.delete(at)
      if (text.length === 1 && start === 0 && end === json.length - 1) return text[0]!
      pieces.push(json.slice(from, start), ...text)
      from = end + 1
    }
    pieces.push(json.slice(from))
    return textOrBytes(pieces, LARGE_TEXT)
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

/** Throws 400. */
export function readCut(bytes: Buffer, cut: Member): JsonText {
  if (cut.nesting > MAX_NESTING) throw errors.valueTooDeep()
  return cutText(bytes, cut)
}
