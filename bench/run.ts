import { parseArgs } from 'node:util'
import type { Bench } from './database.ts'
import { createBench } from './database.ts'
import type { Options as Others } from './deliveries.ts'
import { benchDead, benchDeliveries } from './deliveries.ts'
import { benchImport } from './import.ts'
import { measuring, rowOf } from './measure.ts'
import { memberRoutes } from './member-routes.ts'
import type { Server } from './process.ts'
import { freePort, pinned, startLoad, startServer } from './process.ts'
import { openCalls, SUBSCRIPTIONS } from './publish.ts'
import { routes } from './routes.ts'

const usage = `npm run bench -- [get | put | list | storage | profile | events | groups | plans | competitions | card | me | trpc-profile … | quiz | publish …] [--rounds 7] [--requests 10000] [--prof directory]
  [--service 'node arguments' …]  compares other builds of the service in the same run
npm run bench -- deliveries | dead [--seconds 30] [--prof directory]
npm run bench -- import [--prof directory]`

/** Benches that do not send requests. */
const others: Record<string, (options: Others) => Promise<void>> = {
  deliveries: benchDeliveries,
  dead: benchDead,
  import: benchImport,
}

/** Names for several routes. */
const groups: Record<string, string[]> = {
  storage: ['get', 'put', 'list'],
  me: Object.keys(memberRoutes),
  publish: ['call', ...SUBSCRIPTIONS.map((n) => `publish-${n}`)],
}

/** The highest allowed ratio for publishing in process. */
const CALL_TARGET = 2

const CONCURRENCIES = [16, 32]

interface Asked {
  rounds: number
  requests: number
  services: string[]
  flags: string[]
}

/** Measures CPU time per request of the service and of a bare handler, in alternating rounds. */
async function main() {
  const { values, positionals } = parseArgs({
    options: {
      rounds: { type: 'string', default: '7' },
      requests: { type: 'string', default: '10000' },
      prof: { type: 'string' },
      seconds: { type: 'string', default: '30' },
      service: { type: 'string', multiple: true, default: ['dist/server/main.js'] },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  const other = others[positionals[0] ?? '']
  if (other) return other({ seconds: Number(values.seconds), prof: values.prof, say })
  const names = (positionals.length > 0 ? positionals : ['storage']).flatMap((name) => groups[name] ?? name)
  if (values.help || !names.every((name) => name === 'call' || Object.hasOwn(routes, name))) return say(usage)
  const [rounds, requests] = [Number(values.rounds), Number(values.requests)]
  const flags = values.prof ? ['--cpu-prof', `--cpu-prof-dir=${values.prof}`] : []
  const asked = { rounds, requests, services: values.service, flags }

  const bench = await createBench()
  const load = startLoad()
  try {
    say(`CPU time of the process, µs a request: medians of ${rounds} rounds of ${requests}; ${pinned}.`)
    if (names.includes('call')) say('Publishing sends a fifth of the requests. call-N: in the process of the bench.')
    say('route       conc.    bare  service  ratio  least – most   target')
    for (const name of names) await (name === 'call' ? benchCalls(bench, asked) : benchRoute(bench, load, name, asked))
  } finally {
    await load.stop()
    await bench.remove()
  }
}

/** Measures a route over HTTP with a process for each server. */
async function benchRoute(bench: Bench, load: ReturnType<typeof startLoad>, name: string, asked: Asked) {
  const { internal, trpc, section, share = 1, target } = routes[name]!
  const servers = await startAll([
    () => startBare(bench, name),
    ...asked.services.map(
      (words) => () => startService(bench, [...asked.flags, ...words.split(' ')], internal ?? trpc),
    ),
  ])
  try {
    for (const concurrency of CONCURRENCIES) {
      const tenants = internal ? [bench.platform] : section === 'lms' ? bench.learners : bench.tenants
      const measure = measuring(load, tenants, name, concurrency, asked.requests / share)
      // Warm-up: compilation, connections and caches.
      for (const server of servers) await measure(server, 2)
      const [bare, ...services] = await alternately(servers, asked.rounds, measure)
      for (const [i, service] of services.entries()) {
        const label = services.length > 1 ? `   ${asked.services[i]}` : ''
        say(rowOf(name, concurrency, bare!, service, target) + label)
      }
    }
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()))
  }
}

/** Measures publishing in process: `call-10` publishes to ten subscriptions. */
async function benchCalls({ url }: Bench, { rounds, requests }: Asked) {
  const calls = openCalls(url)
  try {
    for (const subscriptions of SUBSCRIPTIONS) {
      const { share = 1 } = routes[`publish-${subscriptions}`]!
      for (const concurrency of CONCURRENCIES) {
        const measure = (way: 'bare' | 'service') => calls.measure(way, subscriptions, concurrency, requests / share)
        const ways = ['bare', 'service'] as const
        for (const way of [...ways, ...ways]) await measure(way)
        const [bare, service] = await alternately(ways, rounds, measure)
        say(rowOf(`call-${subscriptions}`, concurrency, bare!, service!, CALL_TARGET))
      }
    }
  } finally {
    await calls.close()
  }
}

/** Returns the figures of each by round. */
async function alternately<T>(these: readonly T[], rounds: number, measure: (one: T) => Promise<number>) {
  const figures: number[][] = these.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, one] of these.entries()) figures[i]!.push(await measure(one))
  }
  return figures
}

const startBare = ({ url, dataDir }: Bench, name: string) =>
  startServer(['--import', 'tsx', new URL('bare.ts', import.meta.url).pathname], {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    ROUTE: name,
  })

/** Starts the service as in production: compiled, with its log. */
async function startService({ url, dataDir }: Bench, args: string[], internal = false) {
  const internalPort = await freePort()
  const env = {
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    INTERNAL_PORT: String(internalPort),
    LOG_LEVEL: 'info',
    // Published events wait: their delivery is measured by `deliveries`.
    WEBHOOK_WORKER: String(!internal),
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  }
  return startServer(args, env, internal ? internalPort : undefined)
}

/** Starts all servers, or none: stops those that run when one fails. */
async function startAll(starters: (() => Promise<Server>)[]): Promise<Server[]> {
  const servers: Server[] = []
  try {
    for (const start of starters) servers.push(await start())
    return servers
  } catch (error) {
    await Promise.all(servers.map(({ stop }) => stop()))
    throw error
  }
}

const say = (text: string) => void process.stdout.write(`${text}\n`)

await main()
