import type { Contender, Effort } from './compare.ts'
import { compare, WARM_UP_REQUESTS } from './compare.ts'
import type { Bench } from './data/database.ts'
import { runSql } from './data/database.ts'
import type { LoadProcess } from './load/process.ts'
import { buildRequests, splitWay } from './load/requests.ts'
import { PAGE_LIMIT, pages } from './routes/pages.ts'
import type { BenchedRoute } from './routes/route.ts'
import { MCP_TARGET, TRPC_TARGET } from './routes/route.ts'
import { FASTIFY, PARSE, routes } from './routes/routes.ts'
import { TOKEN_REQUESTS, tokenRoutes } from './routes/tokens.ts'
import type { Row } from './rows.ts'
import { startParse } from './servers/parse.ts'
import type { Server } from './servers/process.ts'
import { startFastify, startHandlers, startOidc, startService } from './servers/start.ts'

export interface Asked extends Effort {
  /** Duration of benches that are not measured by requests. */
  seconds: number
  /** Node's arguments for each build of the service. */
  services: string[]
  /** Node's arguments for all of them. */
  flags: string[]
  peers: boolean
}

interface Entrant {
  name: string
  set: string
  fill?: 'bare' | 'service'
  start: () => Promise<Server>
}

export async function measureRow(bench: Bench, load: LoadProcess, row: string, asked: Asked): Promise<Row> {
  if (tokenRoutes[row]) return measureTokens(bench, load, row, asked)
  if (pages[row]) return measurePage(bench, load, row, asked)
  const [, way, name] = splitWay(row)
  const route = routes[name]!
  await load.prepare(buildRequests(bench, name))
  if (way) await load.prepare(buildRequests(bench, row))
  const entrants = way ? restAndOther(bench, name, way, asked) : bareAndOthers(bench, load, name, asked)
  const requests = countRequests(bench, route, asked.requests)
  const refilled = entrants.map(({ fill, ...entrant }) => ({ ...entrant, refill: fill && route.refill?.[fill] }))
  const servers = await measureAll(bench, load, refilled, { ...asked, requests })
  return { name: row, target: way ? TARGETS[way] : route.target, servers }
}

/** Requests for tokens, beside oidc-provider alone. */
async function measureTokens(bench: Bench, load: LoadProcess, row: string, asked: Asked): Promise<Row> {
  const { target, refill } = tokenRoutes[row]!
  await load.prepare(buildRequests(bench, row))
  const entrants = [
    { name: 'oidc-provider', set: row, refill, start: () => startOidc(bench) },
    ...toServices(bench, asked).map((service) => ({ ...service, set: row, refill })),
  ]
  const requests = Math.min(asked.requests, TOKEN_REQUESTS)
  return { name: row, target, servers: await measureAll(bench, load, entrants, { ...asked, requests }) }
}

/** With few requests at once, as a page takes ten times as long as a request of an app. */
async function measurePage(bench: Bench, load: LoadProcess, row: string, asked: Asked): Promise<Row> {
  await load.prepare(buildRequests(bench, row))
  const entrants = toServices(bench, asked).map((service) => ({ ...service, set: row, refill: undefined }))
  const effort = { ...asked, requests: Math.ceil(asked.requests / 10), warmUp: WARM_UP_REQUESTS / 4, connections: 8 }
  return { name: row, limit: PAGE_LIMIT, servers: await measureAll(bench, load, entrants, effort) }
}

interface Started extends Pick<Entrant, 'name' | 'set' | 'start'> {
  /** SQL before each round. */
  refill: string | undefined
}

export async function measureAll(bench: Bench, load: LoadProcess, entrants: readonly Started[], effort: Effort) {
  const contenders: Contender[] = []
  try {
    for (const { name, set, refill, start } of entrants) {
      const before = refill !== undefined && (() => runSql(bench.url, refill))
      contenders.push({ name, set, server: await start(), ...(before && { before }) })
    }
    return await compare(load, contenders, effort)
  } finally {
    await Promise.all(contenders.map(({ server }) => server.stop()))
  }
}

const toServices = (bench: Bench, { services, flags }: Asked) =>
  services.map((words, i) => ({
    name: i === 0 ? 'service' : words,
    start: () => startService(bench, [...flags, ...words.split(' ')]),
  }))

/** Requests of a round; where each uses something up, limited to what exists. */
export function countRequests(bench: Bench, { share = 1, refill, each = 1 }: BenchedRoute, asked: number) {
  const most = refill ? each * bench.tenants.length : Number.POSITIVE_INFINITY
  return Math.min(Math.round(asked / share), most)
}

function bareAndOthers(bench: Bench, load: LoadProcess, name: string, asked: Asked): Entrant[] {
  const parse = async () => {
    const started = await startParse(bench)
    for (const set of started.sets) await load.prepare(set)
    return started
  }
  const entrants: Entrant[] = [
    { name: 'bare', set: name, fill: 'bare', start: () => startHandlers('bare', bench, name) },
    ...toServices(bench, asked).map((service): Entrant => ({ ...service, set: name, fill: 'service' })),
  ]
  if (!asked.peers) return entrants
  entrants.push({ name: 'Koa + tRPC', set: name, fill: 'bare', start: () => startHandlers('frame', bench, name) })
  if (FASTIFY.includes(name)) {
    entrants.push({ name: 'Fastify + Prisma', set: name, fill: 'service', start: () => startFastify(bench) })
  }
  if (PARSE.includes(name)) entrants.push({ name: 'Parse Server', set: `parse-${name}`, start: parse })
  return entrants
}

const TARGETS = { trpc: TRPC_TARGET, mcp: MCP_TARGET }

function restAndOther(bench: Bench, name: string, way: 'trpc' | 'mcp', { services: [words], flags }: Asked): Entrant[] {
  const start = () => startService(bench, [...flags, ...words!.split(' ')])
  const overTrpc = async () => {
    const started = await start()
    return { ...started, port: started.internal }
  }
  return [
    { name: 'REST', set: name, fill: 'service', start },
    way === 'trpc'
      ? { name: 'tRPC', set: `trpc-${name}`, fill: 'service', start: overTrpc }
      : { name: 'MCP', set: `mcp-${name}`, fill: 'service', start },
  ]
}
