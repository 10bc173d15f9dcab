import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { delayedMs } from './delayed-ms.ts'
import type { Task } from './many-clients.ts'

/**
 * Runs the clients, and a neighbour's calls one after the other beside them. Returns the longest of these in milliseconds,
 * without what the machine had no processor for; `pid` is the service's.
 */
export async function slowestBeside(task: Task, pid: number, call: () => Promise<{ status: number }>): Promise<number> {
  const clients = fork(new URL('many-clients.ts', import.meta.url), [JSON.stringify(task)], {
    execArgv: ['--import', 'tsx'],
  })
  let [longest, isOver] = [0, false]
  void once(clients, 'exit').then(() => {
    isOver = true
  })
  while (!isOver) {
    const [began, delayed] = [performance.now(), delayedMs(pid)]
    const { status } = await call()
    longest = Math.max(longest, performance.now() - began - (delayedMs(pid) - delayed))
    expect(status).toBe(200)
    await sleep(20)
  }
  expect(clients.exitCode).toBe(0)
  return longest
}
