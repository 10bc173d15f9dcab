import type { Registry } from 'prom-client'
import { Gauge } from 'prom-client'
import { within } from '../../prisma/within.ts'

/** Reads a figure at each scrape; undefined when there is none, and nothing is served. */
type Read<T> = () => T | undefined | Promise<T | undefined>

/** The maximum time that a scrape waits for a figure, such as one of an unavailable database. */
const READ_MS = 1_000

/** A gauge whose value is read at each scrape; it is omitted when that fails or takes over a second. */
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

/** The same with a label, whose values are the keys of the result. */
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
