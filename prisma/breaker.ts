/** Between two tries to connect while the breaker is open. Each has its own time-out, so that a hung one delays nothing. */
const TRY_EVERY_MS = 500

/** What is refused while nothing can connect. */
export class DatabaseAway extends Error {
  /** SQLSTATE: unable to establish a connection. */
  readonly code = '08001'
}

interface Options {
  /** Makes a connection of its own and asks over it; rejects when that fails. */
  tryConnection: () => Promise<unknown>
  onOpen: (cause: Error) => void
  onClose: () => void
}

/**
 * Open from a failure to connect until a try succeeds. While it is open, its own tries are the only ones: what needs a new
 * connection is refused at once.
 */
export class Breaker {
  readonly #options: Options
  #cause: Error | undefined
  #closedAt = 0
  #timer: NodeJS.Timeout | undefined

  constructor(options: Options) {
    this.#options = options
  }

  get isOpen() {
    return this.#cause !== undefined
  }

  refusal() {
    const { message, code } = this.#cause as NodeJS.ErrnoException
    // For a host with several addresses Node's error has a code but no message.
    return new DatabaseAway(`The database cannot be reached: ${message || code}`)
  }

  /** For something that began at `since`, on the clock of performance.now(): before the last success it proves nothing. */
  open(cause: Error, since = performance.now()) {
    if (since < this.#closedAt) return
    const wasOpen = this.isOpen
    this.#cause = cause
    if (wasOpen) return
    this.#options.onOpen(cause)
    this.#timer = setInterval(() => this.#try(), TRY_EVERY_MS).unref()
  }

  close() {
    clearInterval(this.#timer)
    if (!this.isOpen) return
    this.#cause = undefined
    this.#closedAt = performance.now()
    this.#options.onClose()
  }

  #try() {
    this.#options.tryConnection().then(
      () => this.close(),
      () => {},
    )
  }
}
