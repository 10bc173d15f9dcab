import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Judged } from './judge.ts'
import { judge } from './judge.ts'
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
    const lack = findLack(part, env)
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

/** What a part needs and cannot be had here; undefined when all of it is there, programs having been installed. */
function findLack({ needs }: Pick<Part, 'needs'>, env: NodeJS.ProcessEnv): string | undefined {
  for (const need of needs) {
    if (need === 'root' && process.getuid?.() !== 0) return 'needs root'
    if (/^[A-Z_]+$/.test(need) && !env[need]) return `${need} is not set`
  }
  const programs = needs.filter((need) => need !== 'root' && !/^[A-Z_]+$/.test(need))
  if (programs.length === 0) return undefined
  const { status, stderr } = spawnSync('.ci/install', programs, { env, encoding: 'utf8' })
  return status === 0 ? undefined : stderr.trimEnd().split('\n').at(-1) || `needs ${programs.join(', ')}`
}

const clock = (seconds: number) => {
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}
