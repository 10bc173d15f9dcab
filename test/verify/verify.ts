import { join } from 'node:path'
import type { Judged } from './judge.ts'
import { judge } from './judge.ts'
import { lackOf } from './needs.ts'
import type { Part } from './parts.ts'
import type { Finished } from './record.ts'
import { runCommands } from './run-commands.ts'

export interface Verifying {
  /** For logs. */
  directory: string
  env: NodeJS.ProcessEnv
  /** Ends the part that runs, and those after it do not begin. */
  signal: AbortSignal
  isQuiet: () => Promise<boolean>
  say: (line: string) => void
  graceMs?: number
}

/** Runs the parts one after the other, whatever becomes of those before them. */
export async function verify(parts: readonly Part[], verifying: Verifying): Promise<Finished[]> {
  const { directory, env, signal, isQuiet, say, graceMs } = verifying
  const width = Math.max(...parts.map(({ name }) => name.length))
  const finished: Finished[] = []
  for (const part of parts) {
    if (signal.aborted) break
    const began = performance.now()
    const lack = lackOf(part, env)
    let runs = 0
    let log = ''
    const run = () => {
      const path = join(directory, runs++ === 0 ? part.name : `${part.name}-${runs}`)
      log = `${path}.log`
      return runCommands(part.commands, {
        path,
        env,
        limitMs: part.minutes * 60_000,
        signal,
        ...(graceMs && { graceMs }),
      })
    }
    const judged: Judged = lack
      ? { outcome: 'not run', why: lack, runs: 0, figures: [] }
      : await judge(part.kind, run, isQuiet)
    const seconds = (performance.now() - began) / 1_000
    const seed = part.kind === 'chance' && !lack ? { seed: Number(env.SEED) } : {}
    finished.push({ name: part.name, seconds, ...seed, ...judged })
    const why = judged.why ? ` (${judged.why})` : ''
    say(`${part.name.padEnd(width)}  ${clock(seconds).padStart(6)}  ${judged.outcome}${why}${log && `  ${log}`}`)
  }
  return finished
}

const clock = (seconds: number) => {
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
