import { fork } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll } from 'vitest'
import { until } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { endingAfterAll } from '../at-end.ts'
import type { Outcome, Task } from './limiting-process.ts'

/** A process that limits requests. */
export interface LimitingProcess {
  perform: <Result = Outcome>(task: Task) => Promise<Result>
  /** Lines of its log since it opened its limits. */
  lines: () => Record<string, unknown>[]
  /** Resolves when the last line says that Redis is away, or that it is used. */
  alone: () => Promise<unknown>
  counting: () => Promise<unknown>
}

/** Four processes for the tests of a file. */
export function fourProcesses(): LimitingProcess[] {
  const processes: LimitingProcess[] = []
  const atEnd = endingAfterAll()
  beforeAll(async () => {
    for (let n = 0; n < 4; n++) processes.push(start(atEnd))
    await Promise.all(processes.map((one) => one.perform({ do: 'progress' })))
  })
  return processes
}

function start(atEnd: AtEnd): LimitingProcess {
  const child = fork(new URL('limiting-process.ts', import.meta.url), [], { execArgv: ['--import', 'tsx'] })
  const ended = once(child, 'close')
  atEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const ready = once(child, 'message')
  let lines: Record<string, unknown>[] = []
  const pending = new Map<number, (result: never) => void>()
  let last = 0
  child.on('message', ({ id, result, line }: { id?: number; result?: never; line?: string }) => {
    if (id !== undefined) pending.get(id)!(result!)
    else if (line!.startsWith('{')) lines.push(JSON.parse(line!))
  })
  const says = (message: string) =>
    until(
      async () => String(lines.at(-1)?.msg),
      (last) => last.startsWith(message),
    )
  return {
    async perform(task) {
      await ready
      if (task.do === 'open') lines = []
      const id = ++last
      return new Promise((resolve, reject) => {
        pending.set(id, resolve)
        void ended.then(() => reject(new Error('the process ended')))
        child.send({ id, task })
      })
    },
    lines: () => lines,
    alone: () => says(AWAY),
    counting: () => says(BACK),
  }
}

/** What the log says when Redis is away, and when it is back. */
export const AWAY = 'Redis is out of reach'
export const BACK = 'limits are counted in Redis'

export const all = <Result = Outcome>(processes: LimitingProcess[], task: Task): Promise<Result[]> =>
  Promise.all(processes.map((one) => one.perform<Result>(task)))

export const sumOf = (outcomes: Outcome[], what: keyof Outcome) => outcomes.reduce((sum, one) => sum + one[what], 0)
