import type { Media, Schema } from './api-document.ts'

export interface Field {
  name: string
  type: string
  meaning: string | undefined
}

const listChoices = ({ anyOf = [], oneOf = [] }: Schema) => [...anyOf, ...oneOf]

/** As `integer, 1 to 200`. */
export function formatType(schema: Schema): string {
  const { type, items, additionalProperties: more } = schema
  const choices = listChoices(schema)
  if (choices.length > 0) return [...new Set(choices.map(formatType))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (type === undefined) return 'any JSON'
  if (type === 'array' && items) return `array of ${formatType(items)}`
  if (type === 'object' && typeof more === 'object') return `object of ${formatType(more)}`
  // The range says how large an integer is.
  const format = schema.format !== 'int64' && schema.format
  return [[type].flat().join(' or '), format, formatRange(schema)].filter(Boolean).join(', ')
}

/** Omits bounds that only say that a number is safe. */
function formatRange({ minimum: from = Number.MIN_SAFE_INTEGER, maximum: to = Number.MAX_SAFE_INTEGER }: Schema) {
  if (to < Number.MAX_SAFE_INTEGER) return `${from} to ${to}`
  return from > Number.MIN_SAFE_INTEGER && `${from} or more`
}

/** Fields at any depth, as `items[].id`; a field that several choices share occurs once. */
export function listFields(schema: Schema, above = ''): Field[] {
  const { properties = {}, required = [], items } = schema
  const own = Object.entries(properties).flatMap(([key, inner]) => {
    const type = `${formatType(inner)}${required.includes(key) ? '' : ', optional'}`
    return [{ name: above + key, type, meaning: inner.description }, ...listFields(inner, `${above}${key}.`)]
  })
  const inItems = items ? listFields(items, `${above.slice(0, -1)}[].`) : []
  const choiceFields = listChoices(schema).flatMap((one) => listFields(one, above))
  const isFirst = ({ name, type }: Field, at: number) =>
    choiceFields.findIndex((other) => other.name === name && other.type === type) === at
  return [...own, ...inItems, ...choiceFields.filter(isFirst)]
}

export function findExample({ examples = {}, example, schema }: Media): unknown {
  const [named] = Object.values(examples)
  return named?.value ?? example ?? schema?.examples?.[0]
}
