import { constants, setPriority } from 'node:os'
import type { Bench } from '../data/database.ts'
import { median } from '../figures.ts'
import type { LoadProcess, Opened } from '../load/process.ts'
import { mixedRequests } from '../load/requests.ts'
import type { Server } from '../servers/process.ts'
import { ask, start, TSX } from '../servers/process.ts'

const UPLOADERS = 2
const CAPACITY_ROUNDS = 3
const CAPACITY_REQUESTS = 5_000
const WARM_UP_SECONDS = 2
/** More than the closed loop's connections: a request in time must not wait for a late one's connection. */
const CONNECTIONS = 512

export interface TailLoad {
  name: string
  /** The part of the capacity that is used. */
  share: number
  uploads: boolean
  /** The most that p99 may be of the bare handlers'. */
  target: number
}

export const tailLoads: readonly TailLoad[] = [
  { name: 'half', share: 0.5, uploads: false, target: 1.5 },
  { name: 'half, uploads', share: 0.5, uploads: true, target: 1 },
  { name: '80 %', share: 0.8, uploads: false, target: 2 },
  { name: '80 %, uploads', share: 0.8, uploads: true, target: 1 },
]

export interface TailAsked {
  connections: number
  seconds: number
}

export interface LoadRun extends Opened {
  uploadsPerSecond: number
}

/** Before PostgreSQL, which shares the core: a node has cores of its own. Only root may. */
function raisePriority(pid: number) {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGH)
  } catch {}
}

/** A server's capacity for the mixed load, in requests/s, and the way to send it a load that is a share of a capacity. */
export async function prepareLoads(bench: Bench, load: LoadProcess, { child, port }: Server, asked: TailAsked) {
  raisePriority(child.pid!)
  const mixed = mixedRequests(bench)
  await load.prepare(mixed)
  const closed = { set: mixed.name, port, connections: asked.connections, count: CAPACITY_REQUESTS }
  await load.send(closed)
  const rates: number[] = []
  for (let round = 0; round < CAPACITY_ROUNDS; round++) rates.push((await load.send(closed)).perSecond)
  const capacity = median(rates)
  const tokens = bench.tenants.slice(-UPLOADERS).map(({ token }) => token)
  const open = { set: mixed.name, port, connections: CONNECTIONS }
  const run = async ({ share, uploads }: TailLoad, of: number, seconds: number, traces = false): Promise<LoadRun> => {
    const send = () => load.sendAtRate({ ...open, perSecond: of * share, seconds, traces })
    return uploads ? besideUploads(port, tokens, send) : { ...(await send()), uploadsPerSecond: 0 }
  }
  await run(tailLoads[0]!, capacity, Math.min(WARM_UP_SECONDS, asked.seconds))
  return { capacity, run }
}

async function besideUploads(port: number, tokens: string[], send: () => Promise<Opened>): Promise<LoadRun> {
  const program = new URL('../load/upload.ts', import.meta.url).pathname
  const { child, stop } = start(1, [...TSX, program], { PORT: String(port), TOKENS: JSON.stringify(tokens) })
  try {
    const from = performance.now()
    const sent = await send()
    const stored = await ask<number>(child, 'over')
    return { ...sent, uploadsPerSecond: (stored * 1000) / (performance.now() - from) }
  } finally {
    await stop()
  }
}
