import type { Row } from './rows.ts'
import { computeFigures } from './rows.ts'

/** Texts of the pages by the comments before them. */
export type Places = Record<string, string>

/** The pages with new texts in these places. Throws when a comment is missing. */
export function filledPages(pages: readonly string[], places: Places): string[] {
  return Object.entries(places).reduce<string[]>(
    (texts, [name, part]) => {
      const place = new RegExp(`(?<=<!-- ${name} -->\n\n)[^]*?(?=\n\n<!-- end -->)`)
      if (!texts.some((text) => place.test(text))) throw new Error(`No page has a place for ${name}.`)
      return texts.map((text) => text.replace(place, () => part))
    },
    [...pages],
  )
}

/** How many rows are within their targets, and which are not; and whether Fastify with Prisma takes less for one. */
export function summarize(rows: readonly Row[]): string {
  const held = rows.filter(({ target }) => target !== undefined)
  const missed = held.filter((row) => computeFigures(row).some(({ isBeyond }) => isBeyond)).map(({ name }) => name)
  const within = `${held.length - missed.length} of ${held.length} operations with a target are within it`
  const findCpu = (row: Row, name: string) => computeFigures(row).find(({ server }) => server.name === name)?.cpu.median
  const behind = rows.filter((row) => findCpu(row, 'service')! >= (findCpu(row, 'Fastify + Prisma') ?? Infinity))
  const peer =
    behind.length === 0
      ? 'For each that Fastify with Prisma has, the service takes less CPU time.'
      : `The service takes more CPU time than Fastify with Prisma for ${behind.map(({ name }) => name).join(', ')}.`
  return `${within}${missed.length > 0 ? `; beyond: ${missed.join(', ')}` : ''}. ${peer}`
}
