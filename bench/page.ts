import type { Row } from './rows.ts'
import { CLIENT, CPU, figuresOf, tableOf } from './rows.ts'
import { summaryOf } from './runtimes.ts'
import type { Table } from './table.ts'
import { tableText } from './table.ts'
import type { Tails } from './tails/bench-tails.ts'

export interface Report {
  commit: string
  machine: string
  rounds: number
  requests: number
  connections: number
  seconds: number
  rest: Row[]
  trpc: Row[]
  tokens: Row[]
  pages: Row[]
  runtimes: Row[]
  growth: Table
  memory: Table
  tails: Tails
  nodes: Table
  /** Undefined without a cluster: the page keeps what it has. */
  citus: Table | undefined
}

/** docs/performance.md with new figures between the comments with their names. Throws when a comment is missing. */
export function filledPage(page: string, report: Report): string {
  const { commit, rest, trpc, tokens, pages, runtimes, rounds, requests, connections, seconds } = report
  const size = `${connections} connections; medians of ${rounds} rounds of ${requests.toLocaleString('en')} requests (quiz: a fifth)`
  const parts = {
    summary: targetsOf(report),
    machine: `Commit ${commit}, on ${new Date().toISOString().slice(0, 10)}: ${report.machine}\n\n${size}, the servers in turns; tails of ${seconds} s.`,
    cpu: tableText(tableOf(rest, CPU)),
    clients: tableText(tableOf(rest, CLIENT)),
    trpc: tableText(tableOf(trpc, CPU)),
    tokens: tableText(tableOf(tokens, CPU, CLIENT)),
    pages: tableText(tableOf(pages, CPU, CLIENT)),
    runtimes: [summaryOf(runtimes), tableOf(runtimes, CPU, CLIENT)].map(tableText).join('\n\n'),
    ...{ growth: tableText(report.growth), memory: tableText(report.memory) },
    tails: tableText(report.tails.latencies),
    ...{ histogram: tableText(report.tails.histogram), causes: tableText(report.tails.causes) },
    nodes: tableText(report.nodes),
    ...(report.citus && { citus: tableText(report.citus) }),
  }
  return Object.entries(parts).reduce((text, [name, part]) => {
    const place = new RegExp(`(?<=<!-- ${name} -->\n\n)[^]*?(?=\n\n<!-- end -->)`)
    if (!place.test(text)) throw new Error(`docs/performance.md has no place for ${name}.`)
    return text.replace(place, () => part)
  }, page)
}

function targetsOf({ rest, trpc, tokens, pages }: Report): string {
  const held = [...rest, ...trpc, ...tokens, ...pages].filter(({ target, limit }) => (target ?? limit) !== undefined)
  const missed = held.filter((row) => figuresOf(row).some(({ isBeyond }) => isBeyond)).map(({ name }) => name)
  const within = `${held.length - missed.length} of ${held.length} operations and pages with a target are within it`
  const cpuOf = (row: Row, name: string) => figuresOf(row).find(({ server }) => server.name === name)?.cpu.median
  const behind = rest.filter((row) => cpuOf(row, 'service')! >= (cpuOf(row, 'Fastify + Prisma') ?? Infinity))
  const peer =
    behind.length === 0
      ? 'For each that Fastify with Prisma has, the service takes less CPU time.'
      : `The service takes more CPU time than Fastify with Prisma for ${behind.map(({ name }) => name).join(', ')}.`
  return `${within}${missed.length > 0 ? `; beyond: ${missed.join(', ')}` : ''}. ${peer}`
}
