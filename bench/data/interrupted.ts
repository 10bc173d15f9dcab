/** To be removed when a run is interrupted. */
const removals = new Set<() => Promise<unknown>>()

/** Runs `remove` also when the process is asked to end by a signal; returns a function that runs it, once. */
export function removedAnyway(remove: () => Promise<unknown>): () => Promise<void> {
  if (removals.size === 0) for (const signal of SIGNALS) process.once(signal, end)
  removals.add(remove)
  return async () => {
    if (removals.delete(remove)) await remove()
    if (removals.size === 0) for (const signal of SIGNALS) process.off(signal, end)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

function end() {
  Promise.allSettled([...removals].map((remove) => remove())).then(() => process.exit(130))
}
