import { errors } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'

export const linesOf = (form: URLSearchParams, field: string): string[] =>
  (form.get(field) ?? '').split(/\r?\n/).flatMap((line) => line.trim() || [])

/** The version on which the form is based. Throws 400 for an altered form. */
export function versionOf(form: URLSearchParams | FormData): number {
  const version = form.get('version')
  if (typeof version !== 'string' || !/^\d{1,9}$/.test(version)) throw errors.requestInvalid()
  return Number(version)
}

export const purposeOf = (form: URLSearchParams): Record<string, string> =>
  Object.fromEntries(
    [...form].flatMap(([field, text]) =>
      field.startsWith('purpose.') && text.trim() !== '' ? [[field.slice('purpose.'.length), text.trim()]] : [],
    ),
  )

/** Throws 400 for an altered form. */
export function sectionOf(form: URLSearchParams): Section {
  const section = sectionNames.find((name) => name === form.get('section'))
  if (section === undefined) throw errors.requestInvalid()
  return section
}
