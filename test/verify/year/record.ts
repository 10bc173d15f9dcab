import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Year } from './run.ts'
import type { Bloat } from './sizes.ts'
import { bounds } from './tables.ts'

const PAGE = join(import.meta.dirname, '../../../docs/records/year.md')
/** A run of fewer days is a try. */
const SOME_DAYS = 30
/** Smaller tables are left out. */
const SHOWN_BYTES = 200_000

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
const count = (rows: number) => rows.toLocaleString('en')

/** Prints what the days have come to, and keeps it beside the other records. */
export async function writeRecord(year: Year, bloat: readonly Bloat[]) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' })
  const courses = (['node', 'worker'] as const).flatMap((name) => [
    [`memory of the ${name}, MB`, year.memory(name, 'rss')] as const,
    ['of it heap', year.memory(name, 'heap')] as const,
  ])
  const shown = [...year.tables].filter(([, { last }]) => last.bytes > SHOWN_BYTES)
  const text = [
    `# ${year.days} days of a platform`,
    '',
    `Written by \`npm run verify -- year\` at ${commit.trim()} on ${new Date().toISOString().slice(0, 10)}, ${cpus()[0]!.model}, ${cpus().length} cores;`,
    `a day took ${year.secondsOfDay.toFixed(1)} s. What is bounded by what stands in [tables.ts](../../test/verify/year/tables.ts).`,
    '',
    tableText([
      ['process', 'first day', 'middle', 'last day'],
      ...courses.map(([name, { first, middle, last }]) => [name, String(first), String(middle), String(last)]),
    ]),
    '',
    tableText([
      ['table', 'rows, first', 'middle', 'last', 'MB, first', 'MB, middle', 'MB, last', 'bound'],
      ...shown.map(([name, { first, middle, last }]) => [
        name,
        ...[first, middle, last].map(({ rows }) => count(rows)),
        ...[first, middle, last].map(({ bytes }) => megabytes(bytes)),
        boundText(name),
      ]),
    ]),
    '',
    tableText([
      ['index', 'MB', 'of a new one'],
      ...bloat.slice(0, 10).map(({ name, bytes, times }) => [name, megabytes(bytes), times.toFixed(2)]),
    ]),
    '',
  ].join('\n')
  process.stdout.write(text)
  if (year.days >= SOME_DAYS) await writeFile(PAGE, text)
}

/** In a page as in a terminal: the first row is the head. */
function tableText([head, ...rows]: readonly (readonly string[])[]) {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head!), `|${'---|'.repeat(head!.length)}`, ...rows.map(line)].join('\n')
}

function boundText(table: string) {
  const bound = bounds[table]!
  if (bound === 'still') return 'nobody writes it'
  return 'kept' in bound ? `${bound.kept} days` : `grows with ${bound.grows}`
}
