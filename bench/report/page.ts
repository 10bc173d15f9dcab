import { WARM_UP_REQUESTS } from '../compare.ts'
import { GROWTH_COLUMNS } from '../growth/rows.ts'
import { MEMORY_COLUMNS } from '../memory-rows.ts'
import type { Row } from '../rows.ts'
import { CLIENT_COLUMNS, CPU_COLUMNS, clientCellsOf, cpuCellsOf, figuresOf } from '../rows.ts'
import { TAILS_COLUMNS } from '../tails-rows.ts'
import { markdownTable } from '../text-table.ts'

export interface Report {
  /** What it was measured on and with, in words. */
  machine: string
  date: string
  rounds: number
  requests: number
  connections: number
  seconds: number
  rest: Row[]
  trpc: Row[]
  growth: string[][]
  memory: string[][]
  tails: string[][]
}

/** The page docs/performance.md; `npm run bench -- report` writes it, its words as well as its figures. */
export function renderPage(report: Report): string {
  const { rest, trpc, growth, memory, tails, rounds, requests, connections } = report
  return `# Performance

What a request costs, beside what it would cost at least, and beside what others take. \`npm run bench -- report\` has
measured everything on this page and written it, on ${report.date}.

![CPU time of a request: a bare handler, the service, Koa with tRPC, Fastify with Prisma, Parse Server](images/performance.svg)

${summaryOf(report)}

## Who is compared

- **bare**: a handler on node:http and pg for this one operation, with the plainest SQL, no routing, no checks of the input
  and tokens that are verified once. What it takes is the least that Node takes.
- **service**: compiled, as in production, with its log, its limits, its metrics and its checks.
- **Koa + tRPC**: the bare handler within the service's packages (\`bench/frame.ts\`): Koa, a tRPC procedure with schemas, a
  line of log with pino, a histogram of prom-client. What the service takes beyond that are its checks, limits and headers.
- **Fastify + Prisma**: storage, \`me\` and quizzes as one would write them by hand, with schemas for their answers
  (\`bench/peers\`), on the same tables, whose triggers keep the quota's counter. Without rate limits, consents, request ids
  and conditional requests, which the service has.
- **Parse Server**: storage as objects of a class, read and written by their user, on PostgreSQL. It keeps no quota.

${report.machine}

${connections} connections; medians of ${rounds} rounds of ${requests.toLocaleString('en')} requests (quiz: a fifth), the servers in turns. Ratio: to the bare handler, with the least and the most of the rounds.

## CPU time

Of the process, in µs per request.

${markdownTable(CPU_COLUMNS, rest.flatMap(cpuCellsOf))}

## Rate, latency and memory

With as many requests as a server answers: its latency is that of a queue, and shows differences between servers, not what a
client sees of one with room ([Tails](#tails)). Allocated: objects on V8's heap, per request. RSS: after the rounds.

${markdownTable(CLIENT_COLUMNS, rest.flatMap(clientCellsOf))}

## tRPC

The same operations over tRPC, beside REST of the same service.

${markdownTable(CPU_COLUMNS, trpc.flatMap(cpuCellsOf))}

${markdownTable(CLIENT_COLUMNS, trpc.flatMap(clientCellsOf))}

## Growth

CPU time of a request in µs, of the service and of PostgreSQL's processes, while something grows. To the least: both
together, beside the same with the smallest number. A list asks for one entry.

${markdownTable(GROWTH_COLUMNS, growth)}

## Start and memory

Of a process that serves the mixed load of [Tails](#tails), from its start on an existing database; three starts. Prisma, which
sign-in and webhooks use, is made when something first uses it: some 50 MB.

${markdownTable(MEMORY_COLUMNS, memory)}

## Tails

A mixed load, a fifth each of get, put, list, profile and events. Requests arrive at a fixed rate, half of the capacity,
whether or not others are answered, for ${report.seconds} s; their time runs from when they are due. Beside them, two clients
upload values of 5 MB one after another, each over about a second. Sent late: p99 of what the client itself was late, which
is part of the times.

${markdownTable(TAILS_COLUMNS, tails)}

## How it is measured

- Servers, clients and PostgreSQL share the machine. With two cores or more, and \`taskset\`, the server runs on one and the
  clients on another.
- CPU time is what the system accounts to the process (\`process.cpuUsage\`), so what else runs on the machine matters less
  for it than for rates and latencies. Ratios compare rounds that follow one another.
- Allocation is measured apart from the rounds, as the growth of the heap from each garbage collection to the next
  (\`v8.GCProfiler\`): 400,000 arrays of 832 bytes are measured within 6 %. The memory of buffers, outside of it, does not
  count.
- Every answer is checked while it is measured: its status, and that all servers say the same. A wrong one ends the run.
- Each server gets ${WARM_UP_REQUESTS.toLocaleString('en')} requests before the first round that counts.

## Repeat it

\`\`\`sh
npm ci
npm run bench -- report                 # about half an hour; writes this page and its plot
npm run bench -- storage --peers        # get, put and list alone
npm run bench -- get trpc-get --rounds 15
npm run bench -- growth
npm run bench -- memory
npm run bench -- tails
npm run bench -- check                  # the short form, as npm run verify runs it: fails beyond 1.25 of a target, or of what is reached
\`\`\`

Without \`TEST_DATABASE_URL\` the bench starts an embedded PostgreSQL; its databases are removed at the end. The peers are
installed when they are asked for.
`
}

/** A sentence on targets, and one on the peer. */
function summaryOf({ rest, trpc }: Report): string {
  const held = [...rest, ...trpc].filter(({ target }) => target !== undefined)
  const missed = held.filter((row) => figuresOf(row).some(({ isBeyond }) => isBeyond))
  const count = held.length
  const targets =
    missed.length === 0
      ? `All ${count} operations with a target are within it.`
      : `${count - missed.length} of ${count} operations with a target are within it; beyond: ${missed.map(({ name }) => name).join(', ')}.`
  const behind = rest.filter((row) => {
    const cpuOf = (name: string) => figuresOf(row).find((server) => server.name === name)?.cpu.median
    return cpuOf('service')! >= (cpuOf('Fastify + Prisma') ?? Number.POSITIVE_INFINITY)
  })
  const peer =
    behind.length === 0
      ? 'For each that Fastify with Prisma has, the service takes less CPU time.'
      : `The service takes more CPU time than Fastify with Prisma for ${behind.map(({ name }) => name).join(', ')}.`
  return `${targets} ${peer}`
}
