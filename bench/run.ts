import { parseArgs } from 'node:util'
import { benchBytes } from './bytes.ts'
import { checkRow } from './check.ts'
import { benchCitus } from './citus.ts'
import type { Bench } from './data/database.ts'
import { benchGrowth } from './growth.ts'
import type { LoadProcess } from './load/process.ts'
import type { Asked } from './measure-row.ts'
import { measureRow } from './measure-row.ts'
import { benchMemory } from './memory.ts'
import { benchNodes } from './nodes.ts'
import { writeReport } from './report.ts'
import { rowGroups } from './routes/routes.ts'
import { CLIENT, CPU, toTable } from './rows.ts'
import { benchRuntimes } from './runtimes.ts'
import { keepAwake } from './servers/awake.ts'
import { pinned } from './servers/process.ts'
import { installPeers } from './servers/start.ts'
import type { Table } from './table.ts'
import { tableText } from './table.ts'
import { benchTails } from './tails/bench-tails.ts'
import { withLoad } from './with-load.ts'

const usage = `npm run bench -- [NAME …] [--peers]      storage, unless named:
  ${rowGroups.rest!.join(' | ')}
  ${rowGroups.tokens!.join(' | ')} (beside oidc-provider)
  ${rowGroups.pages!.slice(0, 5).join(' | ')} …
  mcp-get | trpc-get … (beside REST)
  all of ${Object.keys(rowGroups).join(' | ')}
  [--service 'node arguments' …]         compares other builds of the service in the same run
npm run bench -- growth ['DIMENSION' …] | tails | memory | bytes | runtimes
                                        cost by size; latency below capacity; start and memory; bytes of a request;
                                        the service on each Node and on Deno
npm run bench -- nodes                  a request to one node and to two, which share a database and Redis (redis-server)
npm run bench -- citus                  the storage's statements on a cluster of this machine: CITUS_URL, a superuser on its coordinator
npm run bench -- report [PART …]        writes the tables of docs/records, part by part, the summary and the plot
npm run bench -- check                  fails beyond 1.25 of a target, or of what is reached
--rounds 7  --requests 10000  --connections 32  --seconds 30  --prof directory`

const say = (text: string) => void process.stdout.write(`${text}\n`)
const sayTable = (table: Table) => say(tableText(table))

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
const { rounds, requests, connections, seconds, prof, peers, service: services } = values
const asked: Asked = {
  rounds: Number(rounds),
  requests: Number(requests),
  connections: Number(connections),
  seconds: Number(seconds),
  services,
  peers,
  flags: prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}`] : [],
}

const others: Record<string, () => Promise<unknown>> = {
  growth: () => benchGrowth(asked, sayTable, positionals.slice(1)),
  tails: () => benchTails(asked, services[0]!, sayTable),
  memory: async () => sayTable(await benchMemory(asked)),
  bytes: async () => sayTable(await benchBytes()),
  runtimes: () => withLoad((bench, load) => benchRuntimes(bench, load, asked, sayTable)),
  nodes: () => benchNodes(asked, sayTable),
  citus: () => benchCitus(citusUrl(), asked, sayTable),
  report: () => writeReport(asked, positionals.slice(1), sayTable),
  check: () => withLoad(checkRows),
}

const names = (positionals.length > 0 ? positionals : ['storage']).flatMap((name) => rowGroups[name] ?? name)
const other = others[positionals[0] ?? '']
const isKnown = names.every((name) => Object.values(rowGroups).some((group) => group.includes(name)))
if (values.help || !(other || isKnown)) {
  say(usage)
  if (!values.help) process.exitCode = 2
} else {
  keepAwake()
  await (other?.() ?? benchRows(names))
}

function citusUrl(): string {
  const url = process.env.CITUS_URL
  if (!url) throw new Error('CITUS_URL is not set: the coordinator of a cluster, as a superuser.')
  return url
}

async function benchRows(names: string[]) {
  if (asked.peers) installPeers()
  await withLoad(async (bench, load) => {
    say(`Medians of ${rounds} rounds of ${requests} requests, ${connections} connections; ${pinned}.`)
    for (const name of names) sayTable(toTable([await measureRow(bench, load, name, asked)], CPU, CLIENT))
  })
}

async function checkRows(bench: Bench, load: LoadProcess) {
  for (const name of [
    ...rowGroups.rest!,
    ...rowGroups.mcp!,
    ...rowGroups.trpc!,
    ...rowGroups.tokens!,
    ...rowGroups.pages!,
  ]) {
    const { row, fault } = await checkRow(bench, load, name, asked)
    if (row) sayTable(toTable([row], CPU))
    if (!fault) continue
    say(fault)
    process.exitCode = 1
  }
}
