import type { Media, Schema } from './api-document.ts'

export interface Field {
  name: string
  type: string
  meaning: string | undefined
}

const choicesOf = ({ anyOf = [], oneOf = [] }: Schema) => [...anyOf, ...oneOf]

/** As `integer, 1 to 200`. */
export function typeOf(schema: Schema): string {
  const { type, items, additionalProperties: more } = schema
  const choices = choicesOf(schema)
  if (choices.length > 0) return [...new Set(choices.map(typeOf))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (type === undefined) return 'any JSON'
  if (type === 'array' && items) return `array of ${typeOf(items)}`
  if (type === 'object' && typeof more === 'object') return `object of ${typeOf(more)}`
  return [[type].flat().join(' or '), schema.format, rangeOf(schema)].filter(Boolean).join(', ')
}

/** Omits bounds that only say that a number is safe. */
function rangeOf({ minimum: from = Number.MIN_SAFE_INTEGER, maximum: to = Number.MAX_SAFE_INTEGER }: Schema) {
  if (to < Number.MAX_SAFE_INTEGER) return `${from} to ${to}`
  return from > Number.MIN_SAFE_INTEGER && `${from} or more`
}

/** Fields at any depth, as `items[].id`; a field that several choices share occurs once. */
export function fieldsOf(schema: Schema, above = ''): Field[] {
  const { properties = {}, required = [], items } = schema
  const own = Object.entries(properties).flatMap(([key, inner]) => {
    const type = `${typeOf(inner)}${required.includes(key) ? '' : ', optional'}`
    return [{ name: above + key, type, meaning: inner.description }, ...fieldsOf(inner, `${above}${key}.`)]
  })
  const inItems = items ? fieldsOf(items, `${above.slice(0, -1)}[].`) : []
  const ofChoices = choicesOf(schema).flatMap((one) => fieldsOf(one, above))
  const isFirst = ({ name, type }: Field, at: number) =>
    ofChoices.findIndex((other) => other.name === name && other.type === type) === at
  return [...own, ...inItems, ...ofChoices.filter(isFirst)]
}

export function exampleOf({ examples = {}, example, schema }: Media): unknown {
  const [named] = Object.values(examples)
  return named?.value ?? example ?? schema?.examples?.[0]
}
