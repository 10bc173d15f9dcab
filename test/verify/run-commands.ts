import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { NotedFigure } from './noted-figure.ts'

/** How a run ended; `unfetched`: the exit code 75 of .ci/install and .ci/fetch. */
export type End = 'green' | 'red' | 'late' | 'stopped' | 'unfetched'

export interface Ran {
  end: End
  /** The reason of a failure. */
  why?: string
  figures: NotedFigure[]
}

export interface RunOptions {
  /** Begins the paths of the log, the figures and the report of a run. */
  path: string
  env: NodeJS.ProcessEnv
  limitMs: number
  /** Between SIGINT, at which tests remove their databases, and SIGKILL. */
  graceMs?: number
  signal: AbortSignal
}

/** Runs each command after the other, whatever becomes of those before it. */
const EACH = `trap 'exit 130' INT
code=0
for command; do
  printf '\\n$ %s\\n' "$command"
  bash -euo pipefail -c "$command" && continue
  if [ $? = 75 ] && [ $code = 0 ]; then exit 75; fi
  code=1
done
exit $code`

/** Runs the commands in a process group of their own, which is ended after `limitMs` or at the signal; output goes to a log. */
export async function runCommands(commands: readonly string[], options: RunOptions): Promise<Ran> {
  const { path, env, limitMs, graceMs = 15_000, signal } = options
  const files = { FIGURES: `${path}.figures`, REPORT: `${path}.report` }
  const log = await open(`${path}.log`, 'w')
  const child = spawn('bash', ['-c', EACH, 'bash', ...commands], {
    detached: true,
    env: { ...env, ...files },
    stdio: ['ignore', log.fd, log.fd],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  let end = () => {}
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined)
  })
  const timer = setTimeout(end, limitMs)
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  try {
    const code = await Promise.race([exited.then(([code]) => code), ended])
    if (code === undefined) await endGroup(child.pid!, graceMs)
    const figures = await readFigures(files.FIGURES)
    if (code === 0) return { end: 'green', figures }
    if (code === undefined) {
      return signal.aborted
        ? { end: 'stopped', figures }
        : { end: 'late', why: `over ${limitMs / 60_000} min`, figures }
    }
    if (code === 75) return { end: 'unfetched', why: lastLine(await readFile(`${path}.log`, 'utf8')), figures }
    return { end: 'red', why: await readFailures(files.REPORT), figures }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    // What a program has left running.
    sendTo(child.pid!, 'SIGKILL')
    await log.close()
  }
}

/** Whether the process group still has members. */
function sendTo(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch {
    return false
  }
}

async function endGroup(group: number, graceMs: number): Promise<void> {
  sendTo(group, 'SIGINT')
  for (let waited = 0; waited < graceMs && sendTo(group, 0); waited += 50) await pause(50)
  sendTo(group, 'SIGKILL')
}

async function readFigures(file: string): Promise<NotedFigure[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): NotedFigure => JSON.parse(line))
}

interface Report {
  testResults: { assertionResults: { fullName: string; status: string }[] }[]
}

/** Reads Vitest's report, which other commands do not write. */
async function readFailures(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) return 'a command failed'
  const { testResults }: Report = JSON.parse(text)
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed'),
  )
  const [first] = failed
  return first ? `${failed.length} failed: ${first.fullName.trim()}` : 'a command failed, and no test'
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1)!
