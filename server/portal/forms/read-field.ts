import { errors } from '../../../routers/kernel/errors.ts'
import type { FieldRule } from './field-rule.ts'

/** A form that was sent, as text or with a file. */
export type Posted = URLSearchParams | FormData

/**
 * The value of a field. One that is absent is undefined if it is optional, else empty. Throws 400 for what only an altered form
 * contains.
 */
export function readField(posted: Posted, name: string, { type, values, isOptional }: FieldRule): unknown {
  if (type === 'flag') return posted.get(name) === 'yes'
  if (type === 'record') return readRecord(posted, `${name}.`, isOptional)
  if (type === 'file') return readFile(posted.get(name))
  if (isOptional && !posted.has(name)) return undefined
  if (type === 'list') return linesIn(posted, name)
  const text = normalizeText(posted.get(name))
  if (values && !values.includes(text)) throw errors.requestInvalid()
  if (type === 'text') return text
  if (!/^\d{1,9}$/.test(text)) throw errors.requestInvalid()
  return Number(text)
}

/** Browsers send line breaks as CRLF. */
const normalizeText = (value: unknown) => (typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '')

/** The lines of a text, or the boxes that are ticked: their first value is '', so that none of them is a list too. */
const linesIn = (posted: Posted, name: string) =>
  posted
    .getAll(name)
    .map(normalizeText)
    .join('\n')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function readRecord(posted: Posted, prefix: string, isOptional: boolean) {
  const filled = [...posted].flatMap(([name, text]) => {
    const value = normalizeText(text).trim()
    return name.startsWith(prefix) && value !== '' ? [[name.slice(prefix.length), value] as const] : []
  })
  return filled.length === 0 && isOptional ? undefined : Object.fromEntries(filled)
}

function readFile(file: unknown): File {
  if (!(file instanceof File)) throw errors.requestInvalid()
  return file
}
