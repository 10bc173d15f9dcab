import type { Contender, Effort, Round } from './compare.ts'
import { alternate, send } from './compare.ts'
import type { Bench } from './database.ts'
import { createBench } from './database.ts'
import type { LoadProcess } from './load-process.ts'
import { startLoad } from './load-process.ts'
import { restRequests, trpcRequests } from './requests.ts'
import { restRoutes, TRPC_TARGET } from './routes.ts'
import { startAll, startBare, startService, switchTo } from './servers.ts'
import { verdictOn } from './verdict.ts'

/** About a minute for all rows on two cores. */
const SHORT: Effort = { rounds: 5, requests: 320, connections: 32 }
/** More of the same for a row that is beyond; all of its rounds count. */
const LONGER: Effort = { rounds: 10, requests: 640, connections: 32 }

/** The short form for CI: measures every operation with a target. Resolves with whether all of them hold. */
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
    for (const [name, route] of Object.entries(restRoutes).filter(([, { target }]) => target !== undefined)) {
      await load.prepare(restRequests(bench, name, route))
      await load.prepare(trpcRequests(bench, name, route))
      await switchTo(bare, name)
      const ofRest = { name: 'REST', server: rest, set: name }
      const rows = [
        { row: name, target: route.target!, pair: [{ name: 'bare', server: bare, set: name }, ofRest] },
        {
          row: `trpc-${name}`,
          target: TRPC_TARGET,
          pair: [ofRest, { name: 'tRPC', server: trpc, set: `trpc-${name}` }],
        },
      ]
      for (const { row, target, pair } of rows) {
        const { line, isBeyond } = await checkRow(load, pair, row, target)
        say(line)
        if (isBeyond) holds = false
      }
    }
    return holds
  } finally {
    await Promise.all(servers.map(({ stop }) => stop()))
  }
}

async function checkRow(load: LoadProcess, pair: Contender[], row: string, target: number) {
  for (const contender of pair) await send(load, contender, SHORT)
  const [base, other] = (await alternate(load, pair, SHORT)) as [Round[], Round[]]
  let verdict = verdictOn(row, target, base, other)
  if (verdict.isBeyond) {
    const [more, moreOfOther] = (await alternate(load, pair, LONGER)) as [Round[], Round[]]
    verdict = verdictOn(row, target, [...base, ...more], [...other, ...moreOfOther])
  }
  return verdict
}
