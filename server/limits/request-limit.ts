import type { Limits } from './limit.ts'

/** Counts a sender's requests in the last minute, which limits the work of a flood to a minute. False above the limit. */
export function requestLimit(limits: Limits, name: string, perMinute: number): (sender: string) => Promise<boolean> {
  const limit = limits.open(name, perMinute, 60)
  return async (sender) => (await limit.take(sender)).passes
}
