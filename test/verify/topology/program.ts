import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** Where servers are that only root has in PATH. */
const PATH = `${process.env.PATH}:/usr/sbin`

export interface Program {
  child: ChildProcess
  /** The last lines of both its outputs: a soak writes millions. */
  output: () => string
  /** Its exit code; null after a signal. */
  ended: Promise<number | null>
}

interface Options {
  cwd: string
  env?: Record<string, string>
  onLine?: (line: string) => void
  /** With a channel for messages. */
  ipc?: boolean
}

export function startProgram([file, ...args]: readonly string[], { cwd, env, onLine, ipc }: Options): Program {
  const child = spawn(file!, args, {
    cwd,
    env: { PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
  })
  const lines: string[] = []
  for (const input of [child.stdout!, child.stderr!]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line)
      if (lines.length > 20_000) lines.splice(0, 10_000)
      onLine?.(line)
    })
  }
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code!)
  // For those who do not wait for it.
  ended.catch(() => {})
  return { child, output: () => lines.join('\n'), ended }
}

/** Ends a program as `docker compose stop` does, and returns its exit code: null after a signal. */
export async function endProgram({ child, ended }: Program): Promise<number | null> {
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
  return ended.finally(() => clearTimeout(timer))
}

/** For a condition of `until`. Throws when the program has ended. */
export function expectRunning({ child, output }: Program) {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error(`It ended: ${child.spawnfile}\n${output()}`)
}

/** The programs that this machine lacks. */
export const lacking = (...programs: string[]) =>
  programs.filter((name) => spawnSync('sh', ['-c', `command -v ${name}`], { env: { PATH } }).status !== 0)
