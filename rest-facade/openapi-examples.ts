import type { Json, Parameter } from './openapi-operation.ts'

/** A body put together of the first example of each property. */
export function bodyExample(schema: Json): unknown {
  const { examples, properties, items, anyOf } = schema as {
    examples?: unknown[]
    properties?: Record<string, Json>
    items?: Json
    anyOf?: Json[]
  }
  if (examples) return examples[0]
  if (properties) return Object.fromEntries(Object.entries(properties).map(([key, one]) => [key, bodyExample(one)]))
  if (items) return [bodyExample(items)]
  return anyOf?.[0] && bodyExample(anyOf[0])
}

/** Description and example of a parameter, which zod has in its schema. */
export function liftExample(parameter: Parameter): Parameter {
  const { description, examples, ...schema } = parameter.schema as Json & { description: string; examples: unknown[] }
  const { in: place, name, required = false } = parameter
  return { in: place, name, required, description, schema: tidy(schema), example: examples?.[0] }
}

/** Leaves out what zod says only because JSON Schema could: the range of a safe integer, the pattern of a date. */
export function tidy<Schema extends Json>(schema: Schema): Schema {
  const isSaid = ([key, value]: [string, unknown]) =>
    Math.abs(value as number) !== Number.MAX_SAFE_INTEGER && !(key === 'pattern' && schema.format === 'date')
  const entries = Object.entries(schema).filter(isSaid)
  return Object.fromEntries(entries.map(([key, value]) => [key, key === 'examples' ? value : tidied(value)])) as Schema
}

function tidied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidied)
  return typeof value === 'object' && value !== null ? tidy(value as Json) : value
}
