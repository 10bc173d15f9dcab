import { fork } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished } from 'vitest'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import type { startAlone } from './memory/large-store.ts'
import type { Report, Task } from './stream-clients.ts'

export type Node = Awaited<ReturnType<typeof startAlone>>

/** Calls that a member may have waiting. */
const MAX_CALLS = 5

export async function openTenant() {
  const world = await startWorld()
  onTestFinished(() => world.close())
  return world
}

/** Tokens of a team for `count` calls that wait, each of as many new members as that needs. */
export async function mintTokens({ db, ids }: World, node: Node, count: number) {
  const people = Array.from({ length: Math.ceil(count / MAX_CALLS) }, () => id('person'))
  await db.person.createMany({ data: people.map((id) => ({ id, firstName: 'N', lastName: 'N', email: '' })) })
  await db.membership.createMany({ data: people.map((personId) => ({ organisationId: ids.club, personId })) })
  const tokens = await Promise.all(people.map((member) => node.token({ ids: { ...ids, member } })))
  return tokens.flatMap((token) => Array<string>(MAX_CALLS).fill(token)).slice(0, count)
}

/** A process that opens calls; see stream-clients.ts. */
export function streamClients() {
  const clients = fork(new URL('stream-clients.ts', import.meta.url), { execArgv: ['--import', 'tsx'] })
  onTestFinished(() => void clients.kill())
  return {
    start: (task: Task) => void clients.send(task),
    drop: () => void clients.send('drop'),
    async report(): Promise<Report> {
      const answer = once(clients, 'message')
      clients.send('report')
      return (await answer)[0]
    },
  }
}

export async function waitingCalls({ internalPort }: Node) {
  const metrics = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
  return Number(/^waiting_calls (\d+)$/m.exec(metrics)![1])
}

export const expectWaiting = (node: Node, count: number) => expect.poll(() => waitingCalls(node)).toBe(count)
