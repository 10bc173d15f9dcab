import type { Contender, Effort } from './compare.ts'
import { compare } from './compare.ts'
import type { Bench } from './database.ts'
import type { LoadProcess } from './load-process.ts'
import { startParse } from './parse-peer.ts'
import { startFastify } from './peers.ts'
import type { Server } from './process.ts'
import { restRequests, trpcRequests } from './requests.ts'
import { restRoutes, routes, TRPC_TARGET } from './routes.ts'
import type { Row } from './rows.ts'
import { startAll, startBare, startService } from './servers.ts'
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

interface Entrant {
  name: string
  /** The requests that it gets. */
  set: string
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
    const contenders = entrants.map(({ name, set }, i): Contender => ({ name, set, server: servers[i]! }))
    const effort = { ...asked, requests: Math.round(asked.requests / (route.share ?? 1)) }
    const measured = await compare(load, contenders, effort)
    return { name: row, target: overTrpc ? TRPC_TARGET : route.target, servers: measured }
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()))
  }
}

function bareAndOthers(bench: Bench, load: LoadProcess, name: string, { services, flags, peers }: Asked): Entrant[] {
  const { internal } = routes[name]!
  const service = async (words: string) => {
    // Published events wait: their delivery is measured by `deliveries`.
    const settings = { WEBHOOK_WORKER: String(!internal) }
    const started = await startService(bench, [...flags, ...words.split(' ')], settings)
    return internal ? { ...started, port: started.internal } : started
  }
  const entrants = [
    { name: 'bare', set: name, start: () => startBare(bench, name) },
    ...services.map((words, i) => ({ name: i === 0 ? 'service' : words, set: name, start: () => service(words) })),
  ]
  if (peers && Object.hasOwn(restRoutes, name)) {
    entrants.push({ name: 'Fastify + Prisma', set: name, start: () => startFastify(bench) })
  }
  if (peers && Object.hasOwn(storageRoutes, name)) {
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
  const overTrpc = async () => {
    const started = await start()
    return { ...started, port: started.internal }
  }
  return [
    { name: 'REST', set: name, start },
    { name: 'tRPC', set: `trpc-${name}`, start: overTrpc },
  ]
}
