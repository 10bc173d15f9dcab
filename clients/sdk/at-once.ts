const running = new WeakMap<object, Map<string, Promise<unknown>>>()

/**
 * Runs work that is begun twice at once a single time, for all its callers: two clicks, two effects of React's StrictMode, two
 * objects for one client with the same store.
 */
export function atOnce<Result>(store: object, name: string, work: () => Promise<Result>): Promise<Result> {
  const ofStore = running.get(store) ?? new Map<string, Promise<unknown>>()
  running.set(store, ofStore)
  const begun = ofStore.get(name) as Promise<Result> | undefined
  if (begun) return begun
  const run = work().finally(() => ofStore.delete(name))
  ofStore.set(name, run)
  return run
}
