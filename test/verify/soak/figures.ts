import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { median } from '../memory/process-figures.ts'
import type { Program } from '../topology/program.ts'

/** What a process holds: memory in bytes, after a full collection of garbage. */
export interface Figures {
  rss: number
  /** How many things keep the process alive. */
  handles: number
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

/** The same at rest: once it holds no more than `before`, or 20 s have passed. */
export async function figuresAtRest(program: Program, before: Figures): Promise<Figures> {
  for (let waited = 0; ; waited += 500) {
    const figures = await figuresOf(program)
    if ((figures.files <= before.files && figures.handles <= before.handles) || waited >= 20_000) return figures
    await pause(500)
  }
}

/** The medians of the memory in the four quarters of a run, in MB. */
export function quarters(samples: readonly Figures[]): number[] {
  const size = samples.length / 4
  return [0, 1, 2, 3].map((n) => {
    const quarter = samples.slice(Math.floor(n * size), Math.floor((n + 1) * size))
    return Math.round(median(quarter.map(({ rss }) => rss)) / 1e5) / 10
  })
}
