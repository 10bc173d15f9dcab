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

/**
 * Description and example of a parameter, which zod has in its schema. A header has no example: tools send it as it is, and the
 * ETag, cursor or key of another request is refused.
 */
export function liftExample(parameter: Parameter): Parameter {
  const { description, examples, ...schema } = parameter.schema as Json & { description: string; examples: unknown[] }
  const { in: place, name, required = false } = parameter
  return {
    in: place,
    name,
    required,
    description,
    schema: tidy(schema),
    ...(place !== 'header' && { example: examples?.[0] }),
  }
}

/**
 * Leaves out what zod says only because JSON Schema could: the range of a safe integer, the pattern of a date. Says the rest as
 * generators understand it: `type: [string, 'null']`, and patterns without the escapes of a literal.
 */
export function tidy<Schema extends Json>(schema: Schema): Schema {
  const said = inOneType(schema)
  const isSaid = ([key, value]: [string, unknown]) =>
    Math.abs(value as number) !== Number.MAX_SAFE_INTEGER && !(key === 'pattern' && said.format === 'date')
  const entries = Object.entries(said).filter(isSaid)
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === 'examples' ? value : tidied(value, key)]),
  ) as Schema
}

/** Objects stay choices, as they are named. */
function inOneType(schema: Json): Json {
  const { anyOf, ...rest } = schema as { anyOf?: Json[] }
  const [value, none, ...more] = anyOf ?? []
  const isNullable =
    none?.type === 'null' && more.length === 0 && typeof value!.type === 'string' && value!.type !== 'object'
  return isNullable ? { ...value, type: [value!.type, 'null'], ...rest } : schema
}

function tidied(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((one) => tidied(one, key))
  if (key === 'pattern' && typeof value === 'string') return value.replaceAll('\\/', '/')
  return typeof value === 'object' && value !== null ? tidy(value as Json) : value
}
