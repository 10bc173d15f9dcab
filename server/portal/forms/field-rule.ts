import { z } from 'zod'

/** What a schema says about one field of a form. */
export interface FieldRule {
  type: 'text' | 'number' | 'flag' | 'list' | 'record' | 'file'
  /** The accepted values; undefined if all of the type are. */
  values: readonly string[] | undefined
  isOptional: boolean
  isRequired: boolean
  maxLength: number | undefined
  format: string | undefined
}

const types: Partial<Record<z.core.$ZodTypeDef['type'], FieldRule['type']>> = {
  string: 'text',
  enum: 'text',
  literal: 'number',
  number: 'number',
  boolean: 'flag',
  array: 'list',
  file: 'file',
}

/**
 * Bounds are those of the schema, or of its metadata (`minLength`, `maxLength` and `format`, as JSON Schema has them), where a
 * sentence of our own refuses what breaks them.
 */
export function fieldRule(schema: z.core.$ZodType): FieldRule {
  let isOptional = false
  let bounds: Record<string, unknown> = {}
  let inner = schema as z.core.$ZodTypes
  for (;;) {
    bounds = { ...z.globalRegistry.get(inner), ...bounds }
    const def = inner._zod.def
    if (def.type === 'optional' || def.type === 'default' || def.type === 'nullable') {
      isOptional ||= def.type !== 'nullable'
      inner = def.innerType as z.core.$ZodTypes
    } else if (def.type === 'pipe') {
      inner = def.in as z.core.$ZodTypes
    } else if (def.type === 'record') {
      return { ...fieldRule(def.valueType), type: 'record', isOptional }
    } else {
      const type = types[def.type]
      if (!type) throw new TypeError(`A form has no field of the type ${def.type}.`)
      return { type, values: acceptedValues(inner), isOptional, ...textBounds(inner, bounds) }
    }
  }
}

function acceptedValues(schema: z.core.$ZodTypes): readonly string[] | undefined {
  const def = schema._zod.def
  if (def.type === 'enum') return Object.values(def.entries).map(String)
  return def.type === 'literal' ? def.values.map(String) : undefined
}

function textBounds(schema: z.core.$ZodType, { minLength, maxLength, format }: Record<string, unknown>) {
  const longest = schema instanceof z.ZodString ? schema.maxLength : null
  return {
    isRequired: typeof minLength === 'number' && minLength > 0,
    maxLength: typeof maxLength === 'number' ? maxLength : (longest ?? undefined),
    format: typeof format === 'string' ? format : undefined,
  }
}
