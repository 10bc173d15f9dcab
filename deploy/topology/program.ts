import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Where servers are that only root has in PATH. */
const PATH = `${process.env.PATH}:/usr/sbin:/usr/local/sbin`

/** A process of the topology. */
export interface Program {
  child: ChildProcess
  /** What it has written to both of its outputs. */
  output: () => string
  /** Its exit code; null after a signal. */
  ended: Promise<number | null>
}

export interface ProgramOptions {
  env?: Record<string, string>
  cwd: string
  /** Gets each line of output. */
  onLine?: ((line: string) => void) | undefined
  /** With a channel for messages. */
  ipc?: boolean
}

/** Starts a program in a process group of its own: the Ctrl-C of a terminal reaches the topology, which ends it in order. */
export function startProgram([file, ...args]: readonly string[], options: ProgramOptions): Program {
  const child = spawn(file!, args, {
    cwd: options.cwd,
    env: { PATH, HOME: process.env.HOME, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', ...(options.ipc ? (['ipc'] as const) : [])],
    detached: true,
  })
  const lines: string[] = []
  for (const stream of [child.stdout!, child.stderr!]) {
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      const [first, ...more] = (rest + text).split('\n')
      const whole = [first!, ...more]
      rest = whole.pop()!
      for (const line of whole) {
        lines.push(line)
        // The last ones, as a soak writes millions.
        if (lines.length > 20_000) lines.splice(0, 10_000)
        options.onLine?.(line)
      }
    })
  }
  const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  // For those who do not wait for it.
  ended.catch(() => {})
  return { child, output: () => lines.join('\n'), ended }
}

/** Asks a program to end, and kills it after the grace period. Returns its exit code, null after a kill. */
export async function endProgram({ child, ended }: Program, graceMs: number): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  // A stopped one (SIGSTOP) would not even end.
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  return ended.finally(() => clearTimeout(timer))
}

export function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { env: { PATH }, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Waits until `holds`, while the program lives. Throws with its output when it ends, and after a minute. */
export async function untilHolds(program: Program, what: string, holds: () => Promise<boolean>) {
  for (const deadline = Date.now() + 60_000; !(await holds()); await pause(50)) {
    const { exitCode, signalCode } = program.child
    if (exitCode !== null || signalCode !== null) throw new Error(`${what}: it ended.\n${program.output()}`)
    if (Date.now() > deadline) throw new Error(`${what}: not within a minute.\n${program.output()}`)
  }
}

/** A port below those that systems choose from (32768 and above), so that nothing takes it before its server. */
export async function freePort(): Promise<number> {
  const port = 10_000 + Math.floor(Math.random() * 22_000)
  const probe = createServer().listen(port)
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  probe.close()
  await once(probe, 'close')
  return port
}
