import type { Contender, Effort } from './compare.ts'
import { compare } from './compare.ts'
import type { Bench } from './data/database.ts'
import { runSql } from './data/database.ts'
import type { LoadProcess } from './load/process.ts'
import { requestsOf } from './load/requests.ts'
import type { BenchedRoute } from './routes/route.ts'
import { TRPC_TARGET } from './routes/route.ts'
import { FASTIFY, PARSE, routes } from './routes/routes.ts'
import type { Row } from './rows.ts'
import { startParse } from './servers/parse.ts'
import type { Server } from './servers/process.ts'
import { startFastify, startHandlers, startService } from './servers/start.ts'

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
  const overTrpc = row.startsWith('trpc-')
  const name = overTrpc ? row.slice('trpc-'.length) : row
  const route = routes[name]!
  await load.prepare(requestsOf(bench, name))
  if (overTrpc) await load.prepare(requestsOf(bench, row))
  const entrants = overTrpc ? restAndTrpc(bench, name, asked) : bareAndOthers(bench, load, name, asked)
  const contenders: Contender[] = []
  try {
    for (const { name, set, fill, start } of entrants) {
      const before = fill && route.refill && (() => runSql(bench.url, route.refill![fill]))
      contenders.push({ name, set, server: await start(), ...(before && { before }) })
    }
    const effort = { ...asked, requests: countOf(bench, route, asked.requests) }
    const measured = await compare(load, contenders, effort)
    return { name: row, target: overTrpc ? TRPC_TARGET : route.target, servers: measured }
  } finally {
    await Promise.all(contenders.map(({ server }) => server.stop()))
  }
}

/** Requests of a round; where each uses something up, limited to what exists. */
function countOf(bench: Bench, { share = 1, refill, each = 1 }: BenchedRoute, asked: number) {
  const most = refill ? each * bench.tenants.length : Number.POSITIVE_INFINITY
  return Math.min(Math.round(asked / share), most)
}

function bareAndOthers(bench: Bench, load: LoadProcess, name: string, { services, flags, peers }: Asked): Entrant[] {
  const parse = async () => {
    const started = await startParse(bench)
    for (const set of started.sets) await load.prepare(set)
    return started
  }
  const entrants: Entrant[] = [
    { name: 'bare', set: name, fill: 'bare', start: () => startHandlers('bare', bench, name) },
    ...services.map((words, i): Entrant => {
      const start = () => startService(bench, [...flags, ...words.split(' ')])
      return { name: i === 0 ? 'service' : words, set: name, fill: 'service', start }
    }),
  ]
  if (!peers) return entrants
  entrants.push({ name: 'Koa + tRPC', set: name, fill: 'bare', start: () => startHandlers('frame', bench, name) })
  if (FASTIFY.includes(name)) {
    entrants.push({ name: 'Fastify + Prisma', set: name, fill: 'service', start: () => startFastify(bench) })
  }
  if (PARSE.includes(name)) entrants.push({ name: 'Parse Server', set: `parse-${name}`, start: parse })
  return entrants
}

function restAndTrpc(bench: Bench, name: string, { services: [words], flags }: Asked): Entrant[] {
  const start = () => startService(bench, [...flags, ...words!.split(' ')])
  const overTrpc = async () => {
    const started = await start()
    return { ...started, port: started.internal }
  }
  return [
    { name: 'REST', set: name, fill: 'service', start },
    { name: 'tRPC', set: `trpc-${name}`, fill: 'service', start: overTrpc },
  ]
}
