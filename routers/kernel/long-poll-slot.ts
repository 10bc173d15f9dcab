/** The place of a call that waits for changes. No AbortController, which takes 1.5 KB: a node has thousands of streams. */
export class LongPollSlot {
  #isOver = false
  readonly #listeners: (() => void)[] = []
  #leave: (() => void) | undefined

  /** `leave` gives the place back. */
  constructor(leave?: () => void) {
    this.#leave = leave
  }

  /** The caller has left, the service stops, or `end` was called. */
  get isOver() {
    return this.#isOver
  }

  /** Calls the function then; at once if it is over. */
  onEnd(listener: () => void) {
    if (this.#isOver) listener()
    else this.#listeners.push(listener)
  }

  end() {
    this.#isOver = true
    for (const listener of this.#listeners.splice(0)) listener()
  }

  release() {
    this.#leave?.()
    this.#leave = undefined
  }
}
