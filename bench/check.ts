import type { Bench } from './data/database.ts'
import { noteFigure } from './figures.ts'
import type { LoadProcess } from './load/process.ts'
import { splitWay } from './load/requests.ts'
import type { Asked } from './measure-row.ts'
import { measureRow } from './measure-row.ts'
import { pages } from './routes/pages.ts'
import { routes } from './routes/routes.ts'
import { computeFigures } from './rows.ts'

const SHORT = { rounds: 5, requests: 640, peers: false }
/** The effort for a row that exceeds its target in the short form. */
const LONGER = { rounds: 15, requests: 1_280, peers: false }
/** How far a row may exceed its target: the measurement is short, and the machine is shared. */
const TOLERANCE = 1.25

/** Compares a row with TOLERANCE times its target, or times the ratio that it has reached if that is higher. */
export async function checkRow(bench: Bench, load: LoadProcess, name: string, asked: Asked) {
  const measure = async (effort: typeof SHORT) => {
    const row = await measureRow(bench, load, name, { ...asked, ...effort })
    const { ratio, cpu, target } = computeFigures(row).find((one) => one.target !== undefined)!
    return { row, value: (ratio ?? cpu).median, bound: Math.max(target!, routes[name]?.reached ?? 0) * TOLERANCE }
  }
  if (!pages[name] && !routes[splitWay(name)[2]]?.target) return {}
  let { row, value, bound } = await measure(SHORT)
  if (value > bound) ({ row, value, bound } = await measure(LONGER))
  noteFigure({ name, value, unit: pages[name] ? 'µs' : '×', bound })
  return { row, fault: value > bound ? `${name}: beyond ${TOLERANCE} of its target, or of what is reached` : undefined }
}
