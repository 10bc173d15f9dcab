import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { delayedMs } from '../memory/process-figures.ts'
import type { Task } from './many-clients.ts'

type Call = () => Promise<{ status: number } | undefined>

/**
 * The longest of a neighbour's calls, one after the other until `isOver`, in ms and without what the machine had no processor
 * for.
 */
export async function slowestUntil(isOver: () => boolean | Promise<boolean>, pid: number, call: Call): Promise<number> {
  let longest = 0
  do {
    const [began, delayed] = [performance.now(), delayedMs(pid)]
    expect((await call())?.status).toBe(200)
    longest = Math.max(longest, performance.now() - began - (delayedMs(pid) - delayed))
    await sleep(20)
  } while (!(await isOver()))
  return longest
}

/** The same beside the clients of a task; `pid` is the service's. */
export async function slowestBeside(task: Task, pid: number, call: Call): Promise<number> {
  const entry = new URL('many-clients.ts', import.meta.url)
  const clients = fork(entry, [JSON.stringify(task)], { execArgv: ['--import', 'tsx'] })
  let isOver = false
  void once(clients, 'exit').then(() => {
    isOver = true
  })
  const longest = await slowestUntil(() => isOver, pid, call)
  expect(clients.exitCode).toBe(0)
  return longest
}
