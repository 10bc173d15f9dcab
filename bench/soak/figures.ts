import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Program } from '../../test/verify/topology/program.ts'

/** What a process holds: memory in bytes, after a full collection of garbage. */
export interface Figures {
  rss: number
  heap: number
  /** What keeps the process alive, by type. */
  handles: Readonly<Record<string, number>>
  listeners: number
  warnings: number
  /** Open file descriptors. */
  files: number
}

export async function figuresOf({ child }: Program): Promise<Figures> {
  const answered = once(child, 'message')
  child.send('figures')
  const [[answer], files] = await Promise.all([answered, readdir(`/proc/${child.pid}/fd`)])
  return { ...(answer as Omit<Figures, 'files'>), files: files.length }
}

/** The same at rest: the lowest of what it holds until it has been as low as `wanted`, or 20 s have passed. */
export async function figuresAtRest(program: Program, wanted: (figures: Figures) => boolean): Promise<Figures> {
  for (let waited = 0; ; waited += 500) {
    const figures = await figuresOf(program)
    if (wanted(figures) || waited >= 20_000) return figures
    await pause(500)
  }
}

export const handlesOf = ({ handles }: Figures) => Object.values(handles).reduce((sum, count) => sum + count, 0)

const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

/** The medians of the four quarters of a run, in MB. */
export function quarters(samples: readonly Figures[], of: 'rss' | 'heap'): number[] {
  const size = samples.length / 4
  return [0, 1, 2, 3].map((n) => {
    const quarter = samples.slice(Math.floor(n * size), Math.floor((n + 1) * size))
    return Math.round(median(quarter.map((one) => one[of])) / 1e5) / 10
  })
}
