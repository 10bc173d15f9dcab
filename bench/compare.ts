import type { LoadProcess, Sent } from './load/process.ts'
import type { Server } from './servers/process.ts'

export interface Contender {
  name: string
  server: Server
  set: string
  before?: () => Promise<unknown>
}

/** A round: CPU time of the process in µs per request, and latencies as seen by its clients. */
export type Round = Pick<Sent, 'perSecond' | 'p50' | 'p99'> & { cpu: number }

export interface Measured {
  name: string
  rounds: Round[]
  /** Bytes per request. */
  allocated: number
  /** Bytes, after the rounds. */
  rss: number
}

export interface Effort {
  rounds: number
  requests: number
  connections: number
  /** Requests before the first round, in place of WARM_UP_REQUESTS. */
  warmUp?: number
}

/** Requests before the first round that counts, for connections, caches and compilation, which takes thousands of requests. */
export const WARM_UP_REQUESTS = 6_000

/** Alternates the contenders, so that other load of the machine affects all of them. */
export async function compare(load: LoadProcess, contenders: readonly Contender[], effort: Effort) {
  await alternate(load, contenders, {
    ...effort,
    rounds: Math.ceil((effort.warmUp ?? WARM_UP_REQUESTS) / effort.requests),
  })
  const rounds = await alternate(load, contenders, effort)
  const measured: Measured[] = []
  for (const [i, contender] of contenders.entries()) {
    const rss = await contender.server.rss()
    await contender.before?.()
    // Separate from the rounds, as recording each collection takes time.
    const allocated = await contender.server.allocated(() => send(load, contender, effort))
    measured.push({ name: contender.name, rounds: rounds[i]!, rss, allocated: allocated / effort.requests })
  }
  return measured
}

export const alternate = (load: LoadProcess, contenders: readonly Contender[], effort: Effort) =>
  inRounds(
    contenders.map((contender) => () => measure(load, contender, effort)),
    effort.rounds,
  )

/** Returns each contender's results per round; the contenders alternate. */
export async function inRounds<Result>(contenders: readonly (() => Promise<Result>)[], rounds: number) {
  const results: Result[][] = contenders.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) results[i]!.push(await contender())
  }
  return results
}

export async function measure(load: LoadProcess, contender: Contender, effort: Effort): Promise<Round> {
  await contender.before?.()
  const before = await contender.server.cpu()
  const { perSecond, p50, p99 } = await send(load, contender, effort)
  const cpu = ((await contender.server.cpu()) - before) / effort.requests
  return { cpu, perSecond, p50, p99 }
}

export const send = (load: LoadProcess, { server, set }: Contender, { requests, connections }: Effort) =>
  load.send({ set, port: server.port, connections, count: requests })
