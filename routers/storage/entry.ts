import { z } from 'zod'

/** An entry as it is stored: its value is the JSON text that came in, its time Unix seconds. */
export interface StoredEntry {
  key: string
  value: string
  updatedAt: string
}

/**
 * The JSON of an entry, in pieces: a value is neither parsed nor copied on its way out. `z.object` and JSON.stringify
 * over a page of 50 entries took a sixth of a request.
 */
export const entryText = ({ key, value, updatedAt }: StoredEntry): string[] => [
  `{"key":${JSON.stringify(key)},"value":`,
  value,
  `,"updatedAt":${updatedAt}}`,
]

/** The JSON of a page of a collection. */
export function pageText({ entries, total }: { entries: StoredEntry[]; total: string }): string[] {
  const pieces = ['{"items":[']
  let end = ''
  for (const { key, value, updatedAt } of entries) {
    pieces.push(`${end}{"key":${JSON.stringify(key)},"value":`, value)
    end = `,"updatedAt":${updatedAt}},`
  }
  pieces.push(`${end.slice(0, -1)}],"total":${total}}`)
  return pieces
}

/** The schema of an output that is such a text: documented and typed as what it stands for, and not looked into. */
export const rawJsonOutput = <T extends z.ZodType>(schema: T): T => {
  const { $schema, ...documented } = z.toJSONSchema(schema)
  return z.unknown().meta({ override: ({ jsonSchema }) => Object.assign(jsonSchema, documented) }) as unknown as T
}
