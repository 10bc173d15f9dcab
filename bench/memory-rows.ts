import { spreadOf } from './figures.ts'

/** CPU time in seconds; memory in bytes, at rest and after requests. */
export interface Start {
  seconds: number
  rest: number
  after: number
}

export const MEMORY_COLUMNS = ['of the process', 'median', 'least – most', 'target']

export function memoryRows(starts: readonly Start[], requests: number): string[][] {
  const of = (figure: keyof Start, unit = 1) => starts.map((start) => start[figure] / unit)
  return [
    row('CPU until it listens, s', of('seconds'), 0.9, 2),
    row('memory after 10 s at rest, MB', of('rest', 2 ** 20), 120, 0),
    row(`memory after ${requests.toLocaleString('en')} requests, MB`, of('after', 2 ** 20), 200, 0),
  ]
}

function row(name: string, values: number[], target: number, digits: number): string[] {
  const { median, least, most } = spreadOf(values)
  const spread = `${least.toFixed(digits)} – ${most.toFixed(digits)}`
  return [name, median.toFixed(digits), spread, `${target}${median > target ? ' missed' : ''}`]
}
