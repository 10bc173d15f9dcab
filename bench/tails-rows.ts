import type { Sent } from './load-process.ts'

/** Of p99 to p50. */
const TARGET = 4

export const TAILS_COLUMNS = ['load', 'requests/s', 'p50 ms', 'p99 ms', 'p99 : p50', 'target', 'sent late ms']

/** `held` where the target is for this load. */
export function tailsRow(name: string, { perSecond, p50, p99, late }: Sent, held = false): string[] {
  const ratio = p99 / p50
  const goal = held ? `${TARGET}${ratio > TARGET ? ' missed' : ''}` : ''
  return [name, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1), ratio.toFixed(1), goal, late.toFixed(1)]
}
