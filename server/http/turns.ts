/** Bytes written before other requests are processed: the system takes some 4 MB at once, which may last 20 ms. */
const TURN_BYTES = 512 * 1024

let left = TURN_BYTES
let isEnding = false
const waiting: { bytes: number; begin: () => void }[] = []

/** Undefined if bytes of any response may be written in this turn of the event loop, else resolves in a turn where they may. */
export function turnFor(bytes: number): Promise<void> | undefined {
  if (left > 0 && waiting.length === 0) {
    countWritten(bytes)
    return undefined
  }
  endTurn()
  return new Promise((begin) => waiting.push({ bytes, begin }))
}

/** Counts bytes that are written without waiting. */
export function countWritten(bytes: number) {
  left -= bytes
  endTurn()
}

/** Gives the next turn its bytes, and begins the first ones that wait. */
function endTurn() {
  if (isEnding) return
  isEnding = true
  setImmediate(() => {
    isEnding = false
    left = TURN_BYTES
    let begun = 0
    for (const { bytes, begin } of waiting) {
      if (left <= 0) break
      left -= bytes
      begun++
      begin()
    }
    waiting.splice(0, begun)
    if (begun > 0) endTurn()
  })
}
