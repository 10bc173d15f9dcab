/** Runs at most once in `ms`; callers in between share the next run. */
export function throttled(run: () => Promise<void>, ms: number): () => Promise<void> {
  let lastAt = Number.NEGATIVE_INFINITY
  let next: Promise<void> | undefined
  const runNow = () => {
    next = undefined
    lastAt = performance.now()
    return run()
  }
  return () => {
    const wait = lastAt + ms - performance.now()
    if (wait <= 0) return runNow()
    next ??= new Promise<void>((resolve) => setTimeout(resolve, wait).unref()).then(runNow)
    return next
  }
}
