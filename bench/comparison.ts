import type { Contender, Effort } from './compare.ts'
import { compare } from './compare.ts'
import type { Bench } from './database.ts'
import { runSql } from './database.ts'
import type { LoadProcess } from './load-process.ts'
import { memberRoutes } from './member-routes.ts'
import { startParse } from './parse-peer.ts'
import { startFastify } from './peers.ts'
import type { Server } from './process.ts'
import { restRequests, trpcRequests } from './requests.ts'
import type { BenchedRoute } from './routes.ts'
import { restRoutes, routes, TRPC_TARGET } from './routes.ts'
import type { Row } from './rows.ts'
import { startAll, startBare, startFrame, startService } from './servers.ts'
import { storageRoutes } from './storage-routes.ts'

export interface Asked extends Effort {
  /** Node's arguments for each build of the service. */
  services: string[]
  /** Node's arguments for all of them. */
  flags: string[]
  peers: boolean
}

/** Names of rows: routes, and `trpc-` before those that apps may call. */
export const rowNames = [...Object.keys(routes), ...Object.keys(restRoutes).map((name) => `trpc-${name}`)]

/** What the peers have. */
const FASTIFY = new Set([...Object.keys(storageRoutes), ...Object.keys(memberRoutes), 'quiz'])
const PARSE = new Set(['get', 'put', 'list'])

/** Requests of a round; where each of them uses something up, no more than there is. */
function requestsOf(bench: Bench, { share = 1, refill, each = 1 }: BenchedRoute, asked: number) {
  const most = refill ? each * bench.tenants.length : Number.POSITIVE_INFINITY
  return Math.min(Math.round(asked / share), most)
}

interface Entrant {
  name: string
  /** The requests that it gets. */
  set: string
  /** SQL that runs before each round. */
  refill?: string | undefined
  start: () => Promise<Server>
}

/** Measures one row, with a process for each server. */
export async function measureRow(bench: Bench, load: LoadProcess, row: string, asked: Asked): Promise<Row> {
  const overTrpc = row.startsWith('trpc-')
  const name = overTrpc ? row.slice('trpc-'.length) : row
  const route = routes[name]!
  await load.prepare(restRequests(bench, name, route))
  if (overTrpc) await load.prepare(trpcRequests(bench, name, route))
  const entrants = overTrpc ? restAndTrpc(bench, name, asked) : bareAndOthers(bench, load, name, asked)
  const servers = await startAll(entrants.map(({ start }) => start))
  try {
    const contenders = entrants.map(({ name, set, refill }, i): Contender => {
      const contender = { name, set, server: servers[i]! }
      return refill === undefined ? contender : { ...contender, before: () => runSql(bench.url, refill) }
    })
    const effort = { ...asked, requests: requestsOf(bench, route, asked.requests) }
    const measured = await compare(load, contenders, effort)
    return { name: row, target: overTrpc ? TRPC_TARGET : route.target, servers: measured }
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()))
  }
}

function bareAndOthers(bench: Bench, load: LoadProcess, name: string, { services, flags, peers }: Asked): Entrant[] {
  const { internal, refill } = routes[name]!
  const service = async (words: string) => {
    // Published events wait: their delivery is measured by `deliveries`.
    const settings = { WEBHOOK_WORKER: String(!internal) }
    const started = await startService(bench, [...flags, ...words.split(' ')], settings)
    return internal ? { ...started, port: started.internal } : started
  }
  const entrants: Entrant[] = [
    { name: 'bare', set: name, refill: refill?.bare, start: () => startBare(bench, name) },
    ...services.map((words, i) => ({
      ...{ name: i === 0 ? 'service' : words, set: name, refill: refill?.service },
      start: () => service(words),
    })),
  ]
  if (peers) {
    entrants.push({ name: 'Koa + tRPC', set: name, refill: refill?.bare, start: () => startFrame(bench, name) })
  }
  if (peers && FASTIFY.has(name)) {
    const start = () => startFastify(bench)
    entrants.push({ name: 'Fastify + Prisma', set: name, refill: refill?.service, start })
  }
  if (peers && PARSE.has(name)) {
    const start = async () => {
      const parse = await startParse(bench)
      for (const set of parse.sets) await load.prepare(set)
      return parse
    }
    entrants.push({ name: 'Parse Server', set: `parse-${name}`, start })
  }
  return entrants
}

function restAndTrpc(bench: Bench, name: string, { services: [words], flags }: Asked): Entrant[] {
  const start = () => startService(bench, [...flags, ...words!.split(' ')])
  const refill = routes[name]!.refill?.service
  const overTrpc = async () => {
    const started = await start()
    return { ...started, port: started.internal }
  }
  return [
    { name: 'REST', set: name, refill, start },
    { name: 'tRPC', set: `trpc-${name}`, refill, start: overTrpc },
  ]
}
