import type { AtEnd } from '../../support/databases.ts'
import type { Scan } from '../../support/plan-proxy.ts'
import { planProxy } from '../../support/plan-proxy.ts'
import { median } from '../memory/process-figures.ts'
import { playDay } from './day.ts'
import type { Size } from './sizes.ts'
import { readSizes } from './sizes.ts'
import { warm } from './warm.ts'
import { startYear } from './world.ts'

/**
 * The first day is one with a history: until then a process opens its connections and compiles its code; its memory of tokens is
 * full from the start. It is the median of five days, as a process gives memory back when it likes.
 */
const WARM_UP_DAYS = 2
const MEDIAN_OF = 5
/** Between two looks at how full tables are: no multiple of what recurs. */
const LOOK_DAYS = 29

/** How a figure has gone from the first day over the middle to the last. */
export interface Course<T> {
  first: T
  middle: T
  last: T
}

export type Year = Awaited<ReturnType<typeof playYear>>

/** Plays the days, and one more through a proxy that reads the plans of all statements. */
export async function playYear(atEnd: AtEnd, days: number) {
  const world = await startYear(atEnd, days)
  await warm(world)
  const samples: Awaited<ReturnType<typeof world.memory>>[] = []
  const sizes: Map<string, Size>[] = []
  const measured = [Math.min(WARM_UP_DAYS + MEDIAN_OF, days), Math.ceil(days / 2), days]
  const begun = performance.now()
  for (let day = 1; day <= days; day++) {
    await playDay(world, day)
    samples.push(await world.memory())
    if (measured.includes(day) || day % LOOK_DAYS === 0) sizes[day] = await readSizes(world.databaseUrl)
    if (process.env.FOLLOW) process.stdout.write(`${day} ${JSON.stringify(samples.at(-1))}\n`)
  }
  const secondsOfDay = (performance.now() - begun) / 1000 / days
  const memory = (name: 'node' | 'worker', what: 'rss' | 'heap') => {
    const of = (some: typeof samples) => Math.round(median(some.map((one) => one[name][what])) * 10) / 10
    const middle = Math.max(0, Math.ceil(days / 2) - MEDIAN_OF)
    return {
      first: of(samples.slice(WARM_UP_DAYS, WARM_UP_DAYS + MEDIAN_OF)),
      middle: of(samples.slice(middle, middle + MEDIAN_OF)),
      last: of(samples.slice(-MEDIAN_OF)),
    }
  }
  const [first, middle, last] = measured.map((day) => sizes[day]!)
  return {
    world,
    days,
    secondsOfDay,
    memory,
    tables: new Map(
      [...last!].map(([name, size]): [string, Course<Size>] => [
        name,
        { first: first!.get(name)!, middle: middle!.get(name)!, last: size },
      ]),
    ),
    /** The most rows that a table was seen with. Unlike map, flatMap leaves no holes for days without a look. */
    fullest: (table: string) => Math.max(...sizes.flatMap((seen) => seen.get(table)!.rows)),
    scans: await scansOfDay(world, atEnd, days + 1),
  }
}

async function scansOfDay(world: Awaited<ReturnType<typeof startYear>>, atEnd: AtEnd, day: number): Promise<Scan[]> {
  const proxy = await planProxy(world.databaseUrl)
  atEnd(async () => proxy.close())
  await world.restart(proxy.url)
  await playDay(world, day)
  return proxy.take().scans
}
