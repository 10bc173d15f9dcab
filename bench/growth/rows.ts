import { median, ratioOf } from '../figures.ts'

/** By how much a request may cost more than with the least. */
const TARGET = 1.1
export const GROWTH_COLUMNS = [
  ...['grows', 'operation', 'to', 'service µs', 'PostgreSQL µs'],
  ...['to the least', 'least – most', 'target'],
]

/** CPU time of a request in µs: of the service, and of PostgreSQL's processes. */
export interface Cost {
  service: number
  database: number
}

/** A line for each size; `costs` are those of its rounds. */
export function growthRows(
  name: string,
  operation: string,
  sizes: readonly number[],
  costs: readonly Cost[][],
): string[][] {
  const sums = costs.map((rounds) => rounds.map(({ service, database }) => service + database))
  return sizes.map((size, i) => {
    const ratio = i === 0 ? undefined : ratioOf(sums[0]!, sums[i]!)
    return [
      ...[name, operation, size.toLocaleString('en')],
      median(costs[i]!.map(({ service }) => service)).toFixed(0),
      median(costs[i]!.map(({ database }) => database)).toFixed(0),
      ratio ? ratio.median.toFixed(2) : '',
      ratio ? `${ratio.least.toFixed(2)} – ${ratio.most.toFixed(2)}` : '',
      ratio ? `${TARGET.toFixed(2)}${ratio.median > TARGET ? ' missed' : ''}` : '',
    ]
  })
}
