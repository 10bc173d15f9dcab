import { z } from 'zod'
import type { Children, Field, Options } from './fields.ts'
import { boundedText, field, idSchema, MAX_TEXT_BYTES, plain, textSchema } from './fields.ts'
import type { Reference } from './references.ts'

/** Ordered texts, in one column. */
export const texts = (about: string, options?: Options): Field<string[], string[]> => ({
  form: plain,
  ...field<string[], string[]>(
    'list',
    {
      schema: textList,
      output: z.array(z.string()),
      allowed: 'a list of texts of at most 65536 bytes together',
      // Arrays are nullable columns.
      read: `coalesce(%, '{}')`,
    },
    about,
    options,
  ),
})

const countBytes = (values: readonly string[]) => values.reduce((sum, value) => sum + Buffer.byteLength(value), 0)
export const textList = z
  .array(textSchema)
  .max(1000)
  .refine((values) => countBytes(values) <= MAX_TEXT_BYTES)

/** A set of ids, as rows of another table; duplicates count once. */
export const ids = (
  about: string,
  reference: Reference,
  children: Omit<Children, 'key' | 'rest' | 'read'> & { key: string },
) => ({
  ...field<string[], string[]>(
    'list',
    {
      schema: z
        .array(idSchema)
        .max(1000)
        .transform((values) => [...new Set(values)].sort().map((value) => ({ [children.key]: value }))),
      output: z.array(z.string()),
      allowed: 'a list of at most 1000 ids',
    },
    about,
    { initial: `'[]'`, reference },
  ),
  children: { ...children, key: [children.key], rest: [], read: `child."${children.key}"` },
})

/** Ordered names, as rows of another table. */
export const exercises = (about: string): Field<string[], string[]> => ({
  form: plain,
  ...field<string[], string[]>(
    'list',
    {
      schema: z
        .array(boundedText)
        .max(1000)
        .transform((names) => names.map((name, i) => ({ position: i + 1, name }))),
      output: z.array(z.string()),
      allowed: `a list of at most 1000 texts of at most ${MAX_TEXT_BYTES} bytes each`,
    },
    about,
    { initial: `'[]'` },
  ),
  children: {
    table: 'Exercise',
    parent: 'planId',
    key: ['position'],
    rest: ['name'],
    shared: [],
    position: 'position',
    read: 'child.name',
  },
})
