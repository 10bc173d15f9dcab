import { asRead } from './equal-texts.ts'
import { isBlank } from './text-input.ts'

interface Named {
  id: string
  name: string
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i)).join('')

/** White space and what has no width, as of `isBlank`: a name of these alone cannot be read. */
const BLANKS = `${range(9, 13)} \u0085\u00a0\u00ad\u034f\u115f\u1160\u1680${range(0x180b, 0x180f)}${range(0x2000, 0x200f)}${range(
  0x2028,
  0x202f,
)}${range(0x205f, 0x206f)}\u2800\u3000\u3164${range(0xfe00, 0xfe0f)}\ufeff\uffa0`

const label = (name: string, id: string) =>
  `CASE WHEN btrim(${name}, '${BLANKS}') = '' THEN ${id} ELSE btrim(${name}) END`

/** SQL of a person's name, or id where the name cannot be read; null without a person. */
export const personLabel = (person: string) =>
  label(`(${person}."firstName" || ' ' || ${person}."lastName")`, `${person}.id`)

/** The same of an organisation. */
export const organisationLabel = (organisation: string) => label(`${organisation}.name`, `${organisation}.id`)

/** The name, or the id where the name cannot be read. */
export const formatLabel = ({ id, name }: Named) => (isBlank(name) ? id : name.trim())

export const fullName = ({ id, firstName, lastName }: { id: string; firstName: string; lastName: string }) =>
  formatLabel({ id, name: `${firstName} ${lastName}` })

/**
 * Labels by id for one list, each of them different for a reader: equal names get what distinguishes them, in the order of the hints,
 * as in `Anna Ahlers (2011)`, and if nothing else does their ids.
 */
export function labelItems<Item extends Named>(
  items: readonly Item[],
  readHints: (item: Item) => readonly (string | null)[] = () => [],
): Map<string, string> {
  const entries = [...new Map(items.map((item) => [item.id, item])).values()].map((item) => ({
    id: item.id,
    name: formatLabel(item),
    hints: [...readHints(item), item.id],
    said: [] as string[],
  }))
  const shown = ({ name, said }: (typeof entries)[number]) =>
    said.length === 0 ? name : `${name} (${said.join(', ')})`
  const equal = () => {
    const groups = new Map<string, typeof entries>()
    for (const one of entries) {
      const read = asRead(shown(one))
      const group = groups.get(read)
      if (group) group.push(one)
      else groups.set(read, [one])
    }
    return [...groups.values()].filter((group) => group.length > 1)
  }
  const most = Math.max(0, ...entries.map(({ hints }) => hints.length))
  for (let at = 0; at < most; at++) {
    for (const group of equal()) {
      if (new Set(group.map(({ hints }) => hints[at])).size === 1) continue
      for (const { hints, said } of group) {
        const hint = hints[at]
        if (hint) said.push(hint)
      }
    }
  }
  // A name may look like another one with its hint.
  for (let groups = equal(); groups.length > 0; groups = equal()) {
    for (const group of groups) for (const one of group) one.said.push(one.id)
  }
  return new Map(entries.map((one) => [one.id, shown(one)]))
}

/** The items with these labels as their names. */
export function withLabels<Item extends Named>(
  items: readonly Item[],
  readHints?: (item: Item) => readonly (string | null)[],
): Item[] {
  const labels = labelItems(items, readHints)
  return items.map((item) => ({ ...item, name: labels.get(item.id)! }))
}
