import { median } from './memory/process-figures.ts'
import type { PartRecord, VerifyRecord } from './record.ts'
import { SHOWN, selectLast } from './record.ts'

/** More than this, in comparison with earlier records of a machine of the same kind, is worse. */
const WORSE = 1.15

const HEAD = `# Records of \`npm run verify\`

Written by it: the last ${SHOWN} records, the newest on the right. What its parts prove stands in
[CONTRIBUTING.md](../../CONTRIBUTING.md#what-runs-where).
`

/** docs/records/README.md. */
export function renderPage(all: readonly VerifyRecord[]): string {
  const records = selectLast(all)
  if (records.length === 0) return `${HEAD}\nNo record yet.\n`
  const worse: string[] = []
  const figures = figureNames(records).map(([part, name]) => {
    const growth = computeGrowth(records, part, name)
    if (growth > WORSE) worse.push(`- ${part}, ${name}: ${percent(growth)}`)
    const cells = records.map((record, i) => {
      const text = figureText(record.parts[part], name)
      return i === records.length - 1 && growth > WORSE ? `**${text}, ${percent(growth)}**` : text
    })
    return row(part, name, ...cells)
  })
  const columns = records.map(({ commit, changed, at }) => `${at.slice(0, 10)} ${commit}${changed ? '*' : ''}`)
  const partNames = [...new Set(records.flatMap(({ parts }) => Object.keys(parts)))]
  const faults = Object.entries(records.at(-1)!.parts).flatMap(([name, { outcome, why, seed }]) =>
    outcome === 'passed'
      ? []
      : [`- ${[`${name}: ${outcome}`, why, seed && `seed ${seed}`].filter(Boolean).join(', ')}`],
  )
  const figuresSection = [
    '\n## Figures\n',
    'Shares of what each figure is held to, 1 is the limit; of peers, the cost as a multiple of a bare handler. In brackets: not',
    'judged, as the machine was not quiet.\n',
    head('Part', 'Figure', ...columns),
    ...figures,
    `\n## Worse by more than ${percent(WORSE)}\n`,
    'Than the median of the earlier ones on a machine of the same kind.\n',
    worse.length > 0 ? worse.join('\n') : 'Nothing.',
  ]
  return [
    HEAD,
    '## Parts\n',
    head('Part', ...columns),
    ...partNames.map((name) => row(name, ...records.map(({ parts }) => outcomeText(parts[name])))),
    records.some(({ changed }) => changed) ? '\n`*`: with changes that were not committed.' : '',
    faults.length > 0 ? `\nIn the newest:\n\n${faults.join('\n')}` : '',
    ...(figures.length > 0 ? figuresSection : []),
    '\n## Circumstances\n',
    head('Record', 'Machine', 'Load before, after'),
    ...records.map(({ machine, load }, i) => {
      const { cpu, cores, memoryGb, system, node } = machine
      return row(columns[i]!, `${cpu}, ${cores} cores, ${memoryGb} GB, ${system}, Node ${node}`, load.join(', '))
    }),
  ]
    .filter((line) => line !== '')
    .join('\n')
    .concat('\n')
}

/** Parts and names of all figures, in the order in which they first appear. */
function figureNames(records: readonly VerifyRecord[]): [part: string, name: string][] {
  const names = new Map<string, Set<string>>()
  for (const [part, { figures = {} }] of records.flatMap(({ parts }) => Object.entries(parts))) {
    names.set(part, new Set([...(names.get(part) ?? []), ...Object.keys(figures)]))
  }
  return [...names].flatMap(([part, of]) => [...of].map((name): [string, string] => [part, name]))
}

/** A figure of the newest record as a multiple of the median of earlier ones; 1 where there is nothing to compare. */
function computeGrowth(records: readonly VerifyRecord[], part: string, name: string): number {
  const newest = records.at(-1)!
  const judged = (record: VerifyRecord) => {
    const { outcome, figures } = record.parts[part] ?? {}
    return outcome === 'not judged' ? undefined : figures?.[name]
  }
  const now = judged(newest)
  const before = records
    .slice(0, -1)
    .filter(({ machine }) => machine.cpu === newest.machine.cpu && machine.cores === newest.machine.cores)
    .flatMap((record) => judged(record) ?? [])
  return now === undefined || before.length === 0 ? 1 : now / median(before)
}

function figureText(part: PartRecord | undefined, name: string): string {
  const figure = part?.figures?.[name]
  if (figure === undefined) return '–'
  return part!.outcome === 'not judged' ? `(${figure.toFixed(2)})` : figure.toFixed(2)
}

const outcomeText = (part: PartRecord | undefined) => {
  if (!part) return '–'
  return part.outcome === 'failed' ? '**failed**' : part.outcome
}
const percent = (growth: number) => `${Math.round((growth - 1) * 100)} %`
const row = (...cells: (string | number)[]) => `| ${cells.join(' | ')} |`
const head = (...cells: string[]) => `${row(...cells)}\n|${cells.map(() => '---|').join('')}`
