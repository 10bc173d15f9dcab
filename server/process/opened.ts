/** What a process has opened. It is closed in reverse order, as the later parts use the earlier ones. */
export class Opened {
  readonly #closings: (() => unknown)[] = []

  readonly add = (close: () => unknown): void => {
    this.#closings.push(close)
  }

  /** A part that cannot be closed keeps no other open: the first error is thrown at the end. */
  readonly close = async (): Promise<void> => {
    const errors: unknown[] = []
    for (let close = this.#closings.pop(); close; close = this.#closings.pop()) {
      try {
        await close()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  /** Closes what is open when `work` fails, whose error counts. */
  readonly orClose = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work()
    } catch (error) {
      await this.close().catch(() => {})
      throw error
    }
  }
}
