interface Reading<Page> {
  found: Promise<Read<Page>>
  readers: number
}

export interface Read<Page> {
  page: Page
  /** Called once no reader holds the page. */
  end: () => void
}

/** One reader's hold on a page. A reader that rests keeps this object, and so it lets go of the page itself. */
export class Held<Page> {
  #page: Page | undefined
  #leave: (() => void) | undefined

  constructor(page: Page, leave: () => void) {
    this.#page = page
    this.#leave = leave
  }

  /** Throws after `release`. */
  get page(): Page {
    if (this.#page === undefined) throw new Error('the page has been released')
    return this.#page
  }

  release() {
    this.#leave?.()
    this.#page = undefined
    this.#leave = undefined
  }
}

/** A page that several readers want at once is read once, and held once while they send it. */
export class SharedReadings {
  readonly #readings = new Map<string, Reading<unknown>>()

  /** Joins the readers of `key`: the page is shared until the last of them has released it. */
  async take<Page>(key: string, read: () => Promise<Read<Page>>): Promise<Held<Page>> {
    const known = this.#readings.get(key) as Reading<Page> | undefined
    const reading = known ?? { found: read(), readers: 0 }
    this.#readings.set(key, reading)
    reading.readers++
    const leave = () => --reading.readers === 0 && this.#readings.get(key) === reading && this.#readings.delete(key)
    try {
      const { page, end } = await reading.found
      return new Held(page, () => leave() && end())
    } catch (error) {
      leave()
      throw error
    }
  }
}
