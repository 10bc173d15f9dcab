import { appendFileSync } from 'node:fs'

/** A measured figure: the larger, the worse. */
export interface NotedFigure {
  /** Unique among those of a part of `npm run verify`. */
  name: string
  value: number
  unit: string
  /** What the value may not exceed. */
  bound?: number
}

/** Appends a figure to the file that FIGURES names, a line of JSON each: `npm run verify` keeps them. Else does nothing. */
export function noteFigure(figure: NotedFigure): void {
  if (process.env.FIGURES) appendFileSync(process.env.FIGURES, `${JSON.stringify(figure)}\n`)
}
