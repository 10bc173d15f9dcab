/** Arrivals at a fixed rate, in ms from the start: they do not wait for answers. */
export function openLoop(perSecond: number, seconds: number) {
  const count = Math.floor(perSecond * seconds)
  const at = (i: number) => (i * 1000) / perSecond
  let next = 0
  return {
    count,
    /** When the i-th request is due. */
    at,
    /** The requests that are due by now and were not returned before. */
    due(now: number): number[] {
      const due: number[] = []
      while (next < count && at(next) <= now) due.push(next++)
      return due
    },
    isOver: () => next >= count,
  }
}
