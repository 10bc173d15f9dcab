import type { Load, Server, startLoad } from './process.ts'
import type { Tenant } from './routes.ts'
import { routes } from './routes.ts'

/** Returns a function that sends rounds of requests to a server and returns CPU microseconds per request. */
export function measuring(
  load: ReturnType<typeof startLoad>,
  tenants: Tenant[],
  name: string,
  concurrency: number,
  perRound: number,
) {
  const { method, path, body, section = 'apps' } = routes[name]!
  const requests: Load['requests'] = shuffled(
    tenants.flatMap(({ token }, tenant) =>
      Array.from({ length: 10 }, (_, i) => ({
        method,
        path: path(tenant * 10 + i),
        headers: {
          host: `${section}.localhost`,
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }),
        },
        body,
      })),
    ),
  )
  return async ({ port, cpu }: Server, rounds = 1) => {
    const count = perRound * rounds
    const before = await cpu()
    const { failed, sample } = await load.send({ port, concurrency, requests, count })
    const used = (await cpu()) - before
    if (failed > 0) throw new Error(`${failed} of ${count} requests failed: ${sample.slice(0, 300)}`)
    return used / count
  }
}

/** A line of the table: the medians of both servers, their ratio, and the range of ratios by round. */
export function rowOf(name: string, concurrency: number, bare: number[], service: number[], target?: number): string {
  const ratio = median(service) / median(bare)
  const ratios = service.map((us, round) => us / bare[round]!).sort((a, b) => a - b)
  return [
    name.padEnd(11),
    String(concurrency).padStart(5),
    median(bare).toFixed(1).padStart(7),
    median(service).toFixed(1).padStart(8),
    ratio.toFixed(2).padStart(6),
    ` ${ratios[0]!.toFixed(2)} – ${ratios.at(-1)!.toFixed(2)}`,
    target === undefined ? '' : `   ${target}${ratio > target ? ' MISSED' : ''}`,
  ].join(' ')
}

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

/** Distributes a tenant's requests over a round, in the same order in each run. */
function shuffled<T>(list: T[]): T[] {
  const order = list.map((item, i) => ({ item, at: (i * 7_919) % 104_729 }))
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item)
}
