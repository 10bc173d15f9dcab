import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')

export const rulesFile = join(root, 'deploy/prometheus/alerts.yaml')

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** A duration as Prometheus writes it, of one unit. */
export function parseSeconds(duration: string): number {
  const [, count, unit] = /^(\d+)([smhd])$/.exec(duration) ?? []
  if (count === undefined) throw new Error(`${duration} is not a duration of one unit.`)
  return Number(count) * UNITS[unit!]!
}

interface Rule {
  alert: string
  expr: string
  for?: string
}

/** `forSeconds`: how long the expression holds before the alert fires. `ranges`: of its range vectors, in seconds. */
export function alertRules() {
  const { groups }: { groups: { rules: Rule[] }[] } = parse(readFileSync(rulesFile, 'utf8'))
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, for: pending = '0s' }) => {
      const ranges = [...expr.matchAll(/\[([^\]]*)\]/g)].map(([, range]) => parseSeconds(range!))
      return { alert, expr, forSeconds: parseSeconds(pending), ranges }
    }),
  )
}

/** `prometheus.yml` of docs/monitoring.md. */
export function printedConfiguration(): string {
  const page = readFileSync(join(root, 'docs/monitoring.md'), 'utf8')
  return /^```yaml\n(# prometheus\.yml\n.*?)^```$/ms.exec(page)![1]!
}
