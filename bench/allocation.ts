/** Sizes of a heap at a moment, in bytes: its objects, and the buffers that they hold outside of it. */
export interface HeapSize {
  usedHeapSize: number
  externalMemory: number
}

/** What bench/meter.mjs reports of a stretch of work. */
export interface HeapHistory {
  first: HeapSize
  collections: { before: HeapSize; after: HeapSize }[]
  last: HeapSize
}

const bytes = ({ usedHeapSize, externalMemory }: HeapSize) => usedHeapSize + externalMemory

/** What was allocated: the growth from each collection to the next. Nothing but a collection makes the heap smaller. */
export function allocatedBytes({ first, collections, last }: HeapHistory): number {
  let sum = 0
  let from = bytes(first)
  for (const { before, after } of collections) {
    sum += Math.max(0, bytes(before) - from)
    from = bytes(after)
  }
  return sum + Math.max(0, bytes(last) - from)
}
