/**
 * Tracks objects such as requests. Unlike a Set: when V8 grows a Set's table, the old table keeps references to the new one and
 * to all its items. Once one of them is in the old generation, the objects of all later requests survive until the next full
 * collection: 4 KB per storage GET in place of 0.4, and 60 us of its 220.
 */
export class InFlight<T extends object> {
  readonly #items: (T | undefined)[] = []
  readonly #free: number[] = []

  get size() {
    return this.#items.length - this.#free.length
  }

  /** Returns a function that removes the item, and may be called more than once. */
  add(item: T): () => void {
    const place = this.#free.pop() ?? this.#items.length
    this.#items[place] = item
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      this.#items[place] = undefined
      this.#free.push(place)
    }
  }

  items(): T[] {
    return this.#items.filter((item) => item !== undefined)
  }
}
