/** The least that is allocated for two pieces. */
const MIN_BYTES = 4 * 1024

const NOTHING = Buffer.alloc(0)

/**
 * Joins the pieces of a body as they arrive: Node has a Buffer of 100 bytes or more for each chunk, and a list of those of 10 MB in
 * single bytes took over 1 GB. A body in one piece is not copied.
 */
export class JoinedPieces {
  readonly #maxBytes: number
  #buffer: Buffer = NOTHING
  #size = 0

  /** `maxBytes`: that no more will be added. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get size() {
    return this.#size
  }

  add(piece: Buffer) {
    if (this.#size === 0) this.#buffer = piece
    else this.#append(piece)
    this.#size += piece.length
  }

  /** All that were added. */
  join(): Buffer {
    return this.#buffer.length === this.#size ? this.#buffer : this.#buffer.subarray(0, this.#size)
  }

  #append(piece: Buffer) {
    const needed = this.#size + piece.length
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, Math.max(2 * needed, MIN_BYTES)))
      this.#buffer.copy(larger)
      this.#buffer = larger
    }
    piece.copy(this.#buffer, this.#size)
  }
}
