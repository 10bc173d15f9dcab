import { parseArgs } from 'node:util'
import { benchCalls } from './calls.ts'
import { runCheck } from './check.ts'
import type { Asked } from './comparison.ts'
import { measureRow, rowNames } from './comparison.ts'
import { createBench } from './database.ts'
import { benchDead, benchDeliveries } from './deliveries.ts'
import { GROWTH_COLUMNS } from './growth/rows.ts'
import { benchGrowth, growthEffort } from './growth/run.ts'
import { startLoad } from './load-process.ts'
import { memberRoutes } from './member-routes.ts'
import { benchMemory } from './memory.ts'
import { MEMORY_COLUMNS } from './memory-rows.ts'
import { installPeers } from './peers.ts'
import { pinned } from './process.ts'
import { SUBSCRIPTIONS } from './publish.ts'
import { writeReport } from './report/write.ts'
import { restRoutes } from './routes.ts'
import { COLUMNS, cellsOf } from './rows.ts'
import { storageRoutes } from './storage-routes.ts'
import { benchTails } from './tails.ts'
import { TAILS_COLUMNS } from './tails-rows.ts'
import { textTable } from './text-table.ts'

/** Names for several rows. */
const groups: Record<string, string[]> = {
  storage: Object.keys(storageRoutes),
  me: Object.keys(memberRoutes),
  rest: Object.keys(restRoutes),
  trpc: rowNames.filter((name) => name.startsWith('trpc-')),
  publish: ['call', ...SUBSCRIPTIONS.map((n) => `publish-${n}`)],
}

const usage = `npm run bench -- [NAME …] [--peers]      storage, unless named:
  ${Object.keys(restRoutes).join(' | ')}
  ${SUBSCRIPTIONS.map((n) => `publish-${n}`).join(' | ')} | call (in process) | trpc-get … (beside REST)
  all of ${Object.keys(groups).join(' | ')}
  [--service 'node arguments' …]         compares other builds of the service in the same run
npm run bench -- growth | tails | memory
                                        cost by size; latency at half of the capacity; start and memory
npm run bench -- report                 writes docs/performance.md and its plot
npm run bench -- check                  fails beyond 1.25 of a target, or of what is reached
npm run bench -- deliveries | dead
--rounds 7  --requests 10000  --connections 32  --seconds 30  --prof directory`

const say = (text: string) => void process.stdout.write(`${text}\n`)

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    requests: { type: 'string', default: '10000' },
    connections: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '30' },
    peers: { type: 'boolean', default: false },
    prof: { type: 'string' },
    service: { type: 'string', multiple: true, default: ['dist/server/main.js'] },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
})
const [seconds, prof] = [Number(values.seconds), values.prof]
const asked: Asked = {
  rounds: Number(values.rounds),
  requests: Number(values.requests),
  connections: Number(values.connections),
  services: values.service,
  flags: prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}`] : [],
  peers: values.peers,
}

/** Benches that are no rows. */
const others: Record<string, () => Promise<void>> = {
  async growth() {
    await benchGrowth(growthEffort(asked), (rows) => say(textTable(GROWTH_COLUMNS, rows)))
  },
  tails: async () => say(textTable(TAILS_COLUMNS, await benchTails({ ...asked, seconds }))),
  memory: async () => say(textTable(MEMORY_COLUMNS, await benchMemory(asked))),
  report: () => writeReport({ ...asked, peers: true, seconds }, say),
  async check() {
    process.exitCode = (await runCheck(say)) ? 0 : 1
  },
  deliveries: () => benchDeliveries({ seconds, prof, say }),
  dead: () => benchDead({ seconds, prof, say }),
}

const names = (positionals.length > 0 ? positionals : ['storage']).flatMap((name) => groups[name] ?? name)
const other = others[positionals[0] ?? '']
if (values.help) say(usage)
else if (other) await other()
else if (names.every((name) => name === 'call' || rowNames.includes(name))) await benchRows(names)
else {
  say(usage)
  process.exitCode = 2
}

/** Measures the rows, each server in alternating rounds. */
async function benchRows(names: string[]) {
  if (asked.peers) installPeers()
  const bench = await createBench()
  const load = startLoad()
  try {
    say(`Medians of ${asked.rounds} rounds of ${asked.requests} requests, ${asked.connections} connections; ${pinned}.`)
    for (const name of names) {
      if (name === 'call') {
        say(await benchCalls(bench, asked))
        continue
      }
      const row = await measureRow(bench, load, name, asked)
      say(textTable(COLUMNS, cellsOf(row)))
    }
  } finally {
    await load.stop()
    await bench.remove()
  }
}
