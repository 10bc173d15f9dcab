import type { Registry } from 'prom-client'
import { Gauge } from 'prom-client'
import { within } from '../../prisma/within.ts'

/** Where a figure is read from, at each scrape; undefined: there is none now, and nothing is served. */
type Read<T> = () => T | undefined | Promise<T | undefined>

/** Longer than this no scrape waits for a figure, such as one of a database that is away. */
const READ_MS = 1_000

/** A gauge that reads its value when it is scraped; what fails or takes over a second is left out. */
export function addGauge(registry: Registry, name: string, help: string, read: Read<number>) {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await inTime(read)
      if (value === undefined) this.remove()
      else this.set(value)
    },
  })
}

/** The same with a label, whose values are the keys of what is read. */
export function addGauges(
  registry: Registry,
  [name, label]: [name: string, label: string],
  help: string,
  read: Read<Readonly<Record<string, number>>>,
) {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      const figures = await inTime(read)
      this.reset()
      for (const [value, figure] of Object.entries(figures ?? {})) this.set({ [label]: value }, figure)
    },
  })
}

const inTime = async <T>(read: Read<T>) => within(READ_MS, (async () => read())()).catch(() => undefined)
