import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, inject, it, onTestFinished } from 'vitest'
import { request } from '../../storage/client.ts'
import { emptyDatabase } from '../../support/databases.ts'
import { openEvents } from '../../support/event-stream.ts'
import { times } from '../../support/rounds.ts'
import type { World } from '../../support/world.ts'
import { holdFigure } from '../held-figure.ts'
import { expectWaiting, mintTokens, openTenant, streamClients, waitingCalls } from '../many-streams.ts'
import { heapMeter } from '../memory/heap-meter.ts'
import { startAlone } from '../memory/large-store.ts'
import { cpuMs, median, residentMb } from '../memory/process-figures.ts'
import { noteFigure } from '../noted-figure.ts'
import { redisServer } from '../redis/redis-server.ts'

const TEAMS = 5
const STREAMS = 5_000
const REST_SECONDS = times(60, 30)
const WRITES = times(10_000, 1_000)
/** The memory of a node. */
const LIMIT_MB = 512
const path = '/v1/collections/live/changes'
const agent = new Agent({ keepAlive: true })

async function bareServer(databaseUrl = inject('databaseUrl'), ...options: string[]) {
  const entry = new URL('bare-server.ts', import.meta.url)
  const child = fork(entry, [databaseUrl], { execArgv: ['--import', 'tsx', ...options] })
  onTestFinished(() => void child.kill())
  const [port] = (await once(child, 'message')) as [number]
  return { port, pid: child.pid! }
}

/** Transactions of a database, as PostgreSQL has counted them up to now. */
async function transactions({ db }: World, databaseUrl: string) {
  const name = new URL(databaseUrl).pathname.slice(1)
  const [row] = await db.$queryRaw<[{ count: bigint }]>`
    SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = ${name}`
  return Number(row.count)
}

it(`${STREAMS} streams take under 400 MB and 5 % of a core at rest, and leave nothing behind`, async () => {
  const node = await startAlone()
  const tokens: string[] = []
  for (let team = 0; team < TEAMS; team++) tokens.push(...(await mintTokens(await openTenant(), node, STREAMS / TEAMS)))
  const clients = streamClients()
  const open = async () => {
    clients.start({ port: node.port, path, tokens, atOnce: 50 })
    await expectWaiting(node, STREAMS)
  }
  await open()
  // What opening them has left is collected.
  await pause(10_000)
  const memory = await residentMb(node.pid)
  const cpu = await cpuMs(node.pid)
  await pause(REST_SECONDS * 1_000)
  const percent = ((await cpuMs(node.pid)) - cpu) / REST_SECONDS / 10
  holdFigure(`${STREAMS} streams, memory`, memory, 'MB', 400)
  holdFigure(`${STREAMS} streams, CPU at rest`, percent, '%', 5)

  clients.drop()
  await expectWaiting(node, 0)
  for (let round = 0; round < 2; round++) {
    await open()
    clients.drop()
    await expectWaiting(node, 0)
  }
  const after = await residentMb(node.pid)
  holdFigure(`after ${2 * STREAMS} dropped streams, memory`, after, 'MB', LIMIT_MB)
})

it('a stream at rest keeps at most 20 KB of the heap', async () => {
  const [count, meters] = [2_000, { ours: heapMeter(), bare: heapMeter() }]
  const node = await startAlone({ NODE_OPTIONS: meters.ours.option })
  const bare = await bareServer(inject('databaseUrl'), meters.bare.option)
  const tokens: string[] = []
  for (let team = 0; team < 2; team++) tokens.push(...(await mintTokens(await openTenant(), node, count / 2)))
  const perStream = async (meter: ReturnType<typeof heapMeter>, { port, pid }: { port: number; pid: number }) => {
    const { start, report, drop } = streamClients()
    // Code that the first ones compile is no stream's.
    start({ port, path, tokens: tokens.slice(0, 100) })
    await expect.poll(async () => (await report()).opened).toBe(100)
    drop()
    await pause(2_000)
    const before = await meter.usedBytes(pid)
    start({ port, path, tokens, atOnce: 50 })
    await expect.poll(async () => (await report()).opened).toBe(count)
    await pause(2_000)
    return ((await meter.usedBytes(pid)) - before) / count / 1_000
  }
  noteFigure({ name: "a bare server's stream at rest", value: await perStream(meters.bare, bare), unit: 'KB' })
  holdFigure('a stream at rest', await perStream(meters.ours, node), 'KB', 20)
})

it('500 streams at rest cost at most twice the CPU and the transactions of a bare LISTEN/NOTIFY server', async () => {
  const world = await openTenant()
  const databases = { ours: inject('databaseUrl'), bare: await emptyDatabase() }
  const servers = { ours: await startAlone(), bare: await bareServer(databases.bare) }
  const writing = await servers.ours.token(world)
  const tokens = { ours: await mintTokens(world, servers.ours, 500), bare: Array<string>(500).fill('none') }
  for (const name of ['ours', 'bare'] as const) {
    const { start, report } = streamClients()
    start({ port: servers[name].port, path, tokens: tokens[name] })
    await expect.poll(async () => (await report()).opened).toBe(500)
  }
  await request(servers.ours.port, 'PUT', '/storage/live/k', writing, { agent, body: '{"value":1}' })
  await request(servers.bare.port, 'PUT', '/live/k', 'none', { agent, body: '1' })
  // In the same minutes, as the machine's clock rate and neighbours change the CPU time of each; after the first housekeeping.
  await pause(75_000)
  const counts = async (name: keyof typeof servers) => ({
    cpu: await cpuMs(servers[name].pid),
    transactions: await transactions(world, databases[name]),
  })
  const before = { ours: await counts('ours'), bare: await counts('bare') }
  await pause(REST_SECONDS * 1_000)
  const during = async (name: keyof typeof servers) => {
    const after = await counts(name)
    return {
      cpu: (after.cpu - before[name].cpu) / REST_SECONDS,
      transactions: (after.transactions - before[name].transactions) / REST_SECONDS,
    }
  }
  const [ours, bare] = [await during('ours'), await during('bare')]
  const ratio = (of: 'cpu' | 'transactions') => ours[of] / bare[of]
  noteFigure({ name: '500 streams at rest, CPU a second', value: ours.cpu, unit: 'ms' })
  noteFigure({ name: '500 streams at rest, transactions a second', value: ours.transactions, unit: '' })
  holdFigure('500 streams at rest, CPU beside a bare server', ratio('cpu'), '×', 2)
  holdFigure('500 streams at rest, transactions beside a bare server', ratio('transactions'), '×', 2)
  noteFigure({ name: 'bare server at rest, CPU a second', value: bare.cpu, unit: 'ms' })
})

it('a write costs within 10 % the same beside 1,000 waits of another collection', async () => {
  // In the same seconds, and each beside the other's waits: processes differ, too.
  const alone = [await startAlone(), await startAlone()] as const
  const world = await openTenant()
  // Without a rate limit.
  await world.db.client.update({ where: { id: world.ids.client }, data: { environment: 'sandbox' } })
  const withTokens = async (node: (typeof alone)[number]) => {
    const [waiting, writing] = [await mintTokens(world, node, 1_000), await node.token(world)]
    return { ...node, waiting, writing }
  }
  const nodes = [await withTokens(alone[0]), await withTokens(alone[1])] as const
  const [count, atATime] = [times(4_000, 1_000), 100]
  /** CPU milliseconds of each node for as many writes, some at a time by turns. */
  const costs = async () => {
    const read = () => Promise.all(nodes.map(({ pid }) => cpuMs(pid)))
    const before = await read()
    for (let n = 0; n < 2 * count; n++) {
      const { port, writing } = nodes[Math.floor(n / atATime) % 2]!
      const answer = await request(port, 'PUT', '/storage/other/k', writing, { agent, body: `{"value":${n}}` })
      expect(answer?.status).toBe(200)
    }
    return (await read()).map((cpu, i) => cpu - before[i]!)
  }
  const clients = streamClients()
  const ratioBeside = async (at: 0 | 1) => {
    const node = nodes[at]
    // A wait answers at its end. A team has at most some hundred calls that have not begun to wait.
    for (let opened = 0; opened < 1_000; opened += 100) {
      const some = node.waiting.slice(opened, opened + 100)
      clients.start({ port: node.port, path: `${path}?wait=50`, tokens: some, accept: 'application/json' })
      await expectWaiting(node, opened + 100)
    }
    await pause(2_000)
    const cpu = await costs()
    expect(await waitingCalls(node)).toBe(1_000)
    clients.drop()
    await expectWaiting(node, 0)
    return cpu[at]! / cpu[1 - at]!
  }
  for (let round = 0; round < 2; round++) await costs()
  const ratios: number[] = []
  for (let round = 0; round < times(5, 2); round++) {
    ratios.push(Math.sqrt((await ratioBeside(0)) * (await ratioBeside(1))))
  }
  holdFigure('PUT beside 1,000 waits, CPU', median(ratios), '×', 1.1)
})

/** Milliseconds from the beginning of a write to its event, one write after the other, for a stream at each port. */
async function latencies(
  ports: number[],
  headersFor: (port: number) => Promise<Record<string, string>>,
  write: (key: string) => Promise<unknown>,
) {
  const sentAt = new Map<string, number>()
  const readers = await Promise.all(
    ports.map(async (port) => {
      const stream = await openEvents(port, path, await headersFor(port))
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
  for (let n = 0; n < WRITES; n++) {
    sentAt.set(`k${n}`, performance.now())
    await write(`k${n}`)
  }
  await Promise.all(readers.map(({ reading }) => reading))
  return readers.map(({ seen }) => ({ median: median(seen), worst: Math.max(...seen) }))
}

it.each([
  ['LISTEN and NOTIFY', false],
  ['Redis', true],
])(
  `${WRITES} writes reach a stream of their node within 50 ms, and one of another node by %s in 10 ms at the median, by Redis in three times a bare server's time`,
  async (how, withRedis) => {
    const redis = withRedis ? await redisServer() : undefined
    await redis?.start()
    const env = redis && { REDIS_URL: redis.url }
    const [own, other] = [await startAlone(env), await startAlone(env)]
    const world = await openTenant()
    // Without a rate limit.
    await world.db.client.update({ where: { id: world.ids.client }, data: { environment: 'sandbox' } })
    const writing = await own.token(world)
    const [here, there] = await latencies(
      [own.port, other.port],
      async (port) => ({
        host: 'sync.localhost',
        accept: 'text/event-stream',
        authorization: `Bearer ${await (port === own.port ? own : other).token(world)}`,
      }),
      (key) => request(own.port, 'PUT', `/storage/live/${key}`, writing, { agent, body: '{"value":1}' }),
    )
    const [bare, second] = [await bareServer(), await bareServer()]
    const [, reference] = await latencies(
      [bare.port, second.port],
      async () => ({}),
      (key) => request(bare.port, 'PUT', `/live/${key}`, 'none', { agent, body: '1' }),
    )
    const note = (what: string, value: number, bound?: number, unit = 'ms') => {
      const name = `${what}, other node by ${how}`
      return bound ? holdFigure(name, value, unit, bound) : noteFigure({ name, value, unit })
    }
    const ratio = there!.median / reference!.median
    note('same node, median', here!.median)
    note('same node, worst', here!.worst, 50)
    note('other node, median', there!.median, 10)
    note('other node, worst', there!.worst, 1_500)
    // NOTIFY gathers for 10 ms: there, the median alone is bounded.
    note('other node, median beside a bare server', ratio, withRedis ? 3 : undefined, '×')
  },
)
