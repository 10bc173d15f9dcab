import type { Spread } from './figures.ts'

export interface Table {
  columns: readonly string[]
  rows: readonly (readonly string[])[]
}

/** Markdown that is readable in a terminal: a line for each row, text left-aligned, figures right-aligned. */
export function tableText({ columns, rows }: Table): string {
  const widths = columns.map((name, i) => Math.max(3, name.length, ...rows.map((row) => row[i]!.length)))
  const isText = columns.map((_, i) => rows.some((row) => /^[a-z]/i.test(row[i]!)))
  const padded = (cell: string, i: number) => (isText[i] ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))
  const rule = widths.map((width, i) => (isText[i] ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [columns, rule, ...rows].map((cells) => `| ${cells.map(padded).join(' | ')} |`).join('\n')
}

export const rangeCell = ({ least, most }: Spread, digits: number) => `${least.toFixed(digits)}–${most.toFixed(digits)}`

export const targetCell = (target: number | string, isMissed: boolean) => `${target}${isMissed ? ' missed' : ''}`
