import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { request } from '../../storage/client.ts'
import { openEvents } from '../../support/event-stream.ts'
import { times } from '../../support/rounds.ts'
import { id } from '../../support/tenant.ts'
import type { World } from '../../support/world.ts'
import { startWorld } from '../../support/world.ts'
import { startAlone } from '../memory/large-store.ts'
import { cpuMs, median, residentMb } from '../memory/process-figures.ts'
import { noteFigure } from '../noted-figure.ts'
import { redisServer } from '../redis/redis-server.ts'
import type { Task } from './stream-clients.ts'

const TEAMS = 5
const MEMBERS = 200
const EACH = 5
const STREAMS = TEAMS * MEMBERS * EACH
const REST_SECONDS = times(60, 20)
const WRITES = times(10_000, 1_000)
/** Of a node. */
const LIMIT_MB = 512
const path = '/v1/collections/live/changes'

type Node = Awaited<ReturnType<typeof startAlone>>

async function openTenant() {
  const world = await startWorld()
  onTestFinished(() => world.close())
  return world
}

async function tokensOf({ db, ids }: World, node: Node) {
  const people = Array.from({ length: MEMBERS }, () => id('person'))
  await db.person.createMany({ data: people.map((id) => ({ id, firstName: 'N', lastName: 'N', email: '' })) })
  await db.membership.createMany({ data: people.map((personId) => ({ organisationId: ids.club, personId })) })
  return Promise.all(people.map((member) => node.token({ ids: { ...ids, member } })))
}

const waiting = async ({ internalPort }: Node) => {
  const metrics = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
  return Number(/^waiting_calls (\d+)$/m.exec(metrics)![1])
}

it(`${STREAMS} streams take under 400 MB and 5 % of a core at rest, and leave nothing behind`, {
  timeout: 600_000,
}, async () => {
  const node = await startAlone()
  const tokens: string[] = []
  for (let team = 0; team < TEAMS; team++) tokens.push(...(await tokensOf(await openTenant(), node)))
  const clients = fork(new URL('stream-clients.ts', import.meta.url), { execArgv: ['--import', 'tsx'] })
  onTestFinished(() => void clients.kill())
  const ask = async (task: Task | 'drop') => {
    const answer = once(clients, 'message')
    clients.send(task)
    return (await answer)[0]
  }
  const task = { port: node.port, path, tokens, each: EACH }
  expect(await ask(task)).toBe(STREAMS)
  expect(await waiting(node)).toBe(STREAMS)
  // What opening them has left is collected.
  await pause(10_000)
  const memory = await residentMb(node.pid)
  const cpu = await cpuMs(node.pid)
  await pause(REST_SECONDS * 1_000)
  const percent = ((await cpuMs(node.pid)) - cpu) / REST_SECONDS / 10
  noteFigure({ name: `${STREAMS} streams, memory`, value: memory, unit: 'MB', bound: 400 })
  noteFigure({ name: `${STREAMS} streams, CPU at rest`, value: percent, unit: '%', bound: 5 })
  expect.soft(memory).toBeLessThan(400)
  expect.soft(percent).toBeLessThan(5)

  await ask('drop')
  await expect.poll(() => waiting(node)).toBe(0)
  for (let round = 0; round < 2; round++) {
    expect(await ask(task)).toBe(STREAMS)
    await ask('drop')
    await expect.poll(() => waiting(node)).toBe(0)
  }
  const after = await residentMb(node.pid)
  noteFigure({ name: `after ${2 * STREAMS} dropped streams, memory`, value: after, unit: 'MB', bound: LIMIT_MB })
  expect.soft(after).toBeLessThan(LIMIT_MB)
})

it.each([
  ['by its own look', false, 1_500],
  ['by Redis', true, 1_500],
])(
  `${WRITES} writes reach a stream of their node within 50 ms, and one of another node %s`,
  { timeout: 600_000 },
  async (how, withRedis, otherMs) => {
    const redis = withRedis ? await redisServer() : undefined
    await redis?.start()
    const env = redis && { REDIS_URL: redis.url }
    const [own, other] = [await startAlone(env), await startAlone(env)]
    const world = await openTenant()
    // Without a rate limit.
    await world.db.client.update({ where: { id: world.ids.client }, data: { environment: 'sandbox' } })
    const writing = await own.token(world)
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const readers = await Promise.all(
      [own, other].map(async (node) => {
        const headers = {
          host: 'sync.localhost',
          accept: 'text/event-stream',
          authorization: `Bearer ${await node.token(world)}`,
        }
        const stream = await openEvents(node.port, path, headers)
        const seen: number[] = []
        const reading = (async () => {
          while (seen.length < WRITES) {
            const [event] = await stream.take(1)
            seen.push(performance.now() - sentAt.get(event!.data.key)!)
          }
          stream.close()
        })()
        return { seen, reading }
      }),
    )
    const sentAt = new Map<string, number>()
    for (let n = 0; n < WRITES; n++) {
      sentAt.set(`k${n}`, performance.now())
      await request(own.port, 'PUT', `/storage/live/k${n}`, writing, { agent, body: `{"value":${n}}` })
    }
    await Promise.all(readers.map(({ reading }) => reading))
    const [here, there] = readers.map(({ seen }) => ({ median: median(seen), worst: Math.max(...seen) }))
    const note = (name: string, value: number, bound?: number) =>
      noteFigure({ name: `${name}, other node ${how}`, value, unit: 'ms', ...(bound && { bound }) })
    note('same node, median', here!.median)
    note('same node, worst', here!.worst, 50)
    note('other node, median', there!.median)
    note('other node, worst', there!.worst, otherMs)
    expect.soft(here!.worst).toBeLessThan(50)
    expect.soft(there!.worst).toBeLessThan(otherMs)
  },
)
