import { expect } from 'vitest'
import type { FieldType } from '../../routers/directory/fields.ts'
import type { FieldDescription } from '../../routers/directory/record-types.ts'
import { readRows } from '../../server/commands/import/read-rows.ts'

const field = (name: string, type: FieldType, nullable = false): FieldDescription => ({
  name,
  type,
  nullable,
  key: name === 'id',
  needed: name === 'id',
})
export const fields = [
  ...[field('id', 'id'), field('name', 'text'), field('score', 'number'), field('visible', 'boolean')],
  ...[field('start', 'time'), field('place', 'number', true), field('departments', 'list')],
  ...[field('state', 'choice'), field('questions', 'questions')],
]

type Format = 'ndjson' | 'csv' | 'unknown'

/**
 * The rows of a file that arrives in chunks of a size: [line, record], a doubted one [line, record, field, reason], a refused one
 * [line, field, reason, text or cells].
 */
export async function rows(content: string | Buffer, format: Format = 'csv', chunk = 7, whole = false) {
  const bytes = Buffer.from(content)
  const open = async function* () {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  }
  const found: unknown[][] = []
  for await (const row of readRows({ format: format === 'unknown' ? undefined : format, open }, fields, { whole })) {
    const { line, record, refusal, doubt } = row
    const { field, reason } = refusal ?? doubt ?? {}
    found.push(refusal ? [line, field, reason, record] : doubt ? [line, record, field, reason] : [line, record])
  }
  return found
}

export const fault = (line: number, message: string | RegExp) =>
  expect.objectContaining({ name: 'Error', line, message: expect.stringMatching(message) })
export const readFault = (content: string | Buffer, format: Format = 'csv', chunk?: number, whole?: boolean) =>
  rows(content, format, chunk, whole).then(
    (found) => found,
    (error) => error,
  )
