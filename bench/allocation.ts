/** What bench/meter.mjs reports of a stretch of work: sizes of what lives on V8's heap, in bytes. */
export interface HeapHistory {
  first: number
  collections: { before: number; after: number }[]
  last: number
}

/**
 * What was allocated: the growth from each collection to the next. Nothing but a collection makes the heap smaller. The memory of
 * buffers is outside of the heap, and is given back between collections: it does not count.
 */
export function allocatedBytes({ first, collections, last }: HeapHistory): number {
  let sum = 0
  let from = first
  for (const { before, after } of collections) {
    sum += Math.max(0, before - from)
    from = after
  }
  return sum + Math.max(0, last - from)
}
