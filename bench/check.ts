import type { Contender, Effort, Round } from './compare.ts'
import { alternate, send } from './compare.ts'
import type { Bench } from './database.ts'
import { createBench } from './database.ts'
import { noteFigure } from './figures.ts'
import type { LoadProcess } from './load-process.ts'
import { startLoad } from './load-process.ts'
import { restRequests, trpcRequests } from './requests.ts'
import { restRoutes, TRPC_TARGET } from './routes.ts'
import { startAll, startBare, startService, switchTo } from './servers.ts'
import type { CheckedRow } from './verdict.ts'
import { verdictOn } from './verdict.ts'

/** Until code is compiled, of which the service has more than a bare handler: what all rows share, then that of a row. */
const FIRST: Effort = { rounds: 1, requests: 10_000, connections: 32 }
const WARM_UP: Effort = { rounds: 1, requests: 4_000, connections: 32 }
/** With it, about a minute and a half for all rows on two cores. */
const SHORT: Effort = { rounds: 5, requests: 640, connections: 32 }
/** More of the same for a row that is beyond; all of its rounds count. */
const LONGER: Effort = { rounds: 15, requests: 1_280, connections: 32 }

/** The short form, for `npm run verify`: measures every operation with a target. Resolves with whether all of them hold. */
export async function runCheck(say: (text: string) => void): Promise<boolean> {
  const bench = await createBench()
  const load = startLoad()
  try {
    return await check(bench, load, say)
  } finally {
    await load.stop()
    await bench.remove()
  }
}

async function check(bench: Bench, load: LoadProcess, say: (text: string) => void): Promise<boolean> {
  const servers = await startAll([() => startBare(bench, 'get'), () => startService(bench)])
  try {
    const [bare, rest] = servers as [(typeof servers)[0], Awaited<ReturnType<typeof startService>>]
    const trpc = { ...rest, port: rest.internal }
    let holds = true
    await load.prepare(restRequests(bench, 'get', restRoutes.get!))
    for (const server of [bare, rest]) await send(load, { name: 'get', server, set: 'get' }, FIRST)
    for (const [name, route] of Object.entries(restRoutes).filter(([, { target }]) => target !== undefined)) {
      await load.prepare(restRequests(bench, name, route))
      await load.prepare(trpcRequests(bench, name, route))
      await switchTo(bare, name)
      const ofRest = { name: 'REST', server: rest, set: name }
      const rows = [
        {
          row: name,
          target: route.target!,
          reached: route.reached,
          pair: [{ name: 'bare', server: bare, set: name }, ofRest],
        },
        {
          row: `trpc-${name}`,
          target: TRPC_TARGET,
          pair: [ofRest, { name: 'tRPC', server: trpc, set: `trpc-${name}` }],
        },
      ]
      for (const { pair, ...row } of rows) {
        const { line, isBeyond, figure } = await checkRow(load, pair, row)
        say(line)
        noteFigure(figure)
        if (isBeyond) holds = false
      }
    }
    return holds
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()))
  }
}

async function checkRow(load: LoadProcess, pair: Contender[], row: CheckedRow) {
  for (const contender of pair) await send(load, contender, WARM_UP)
  const [base, other] = (await alternate(load, pair, SHORT)) as [Round[], Round[]]
  let verdict = verdictOn(row, base, other)
  if (verdict.isBeyond) {
    const [more, moreOfOther] = (await alternate(load, pair, LONGER)) as [Round[], Round[]]
    verdict = verdictOn(row, [...base, ...more], [...other, ...moreOfOther])
  }
  return verdict
}
