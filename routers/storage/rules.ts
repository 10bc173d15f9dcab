import { arrayOf } from '../../prisma/pg/array-literal.ts'
import type { Conditions } from './statements.ts'

/**
 * `If-Match` and `If-None-Match` (RFC 9110, 13.1) as arrays of versions. A weak tag never matches If-Match; anything that
 * is not a tag matches nothing.
 */
export function conditions(given: { ifMatch?: string | undefined; ifNoneMatch?: string | undefined }): Conditions {
  return {
    ifMatch: given.ifMatch === undefined ? null : arrayOf(tags(given.ifMatch, false)),
    ifNoneMatch: given.ifNoneMatch === undefined ? null : arrayOf(tags(given.ifNoneMatch, true)),
  }
}

/** Whether an entry of this version is one that `If-Match` names; without the header every entry is. */
export function meetsIfMatch(version: string, header: string | undefined): boolean {
  if (header === undefined) return true
  const named = tags(header, false)
  return named.includes('*') || named.includes(version)
}

function tags(header: string, withWeak: boolean): string[] {
  if (header === '*') return ['*']
  const found = [...header.matchAll(/(W\/)?"([^"\0]*)"/g)].filter(([, weak]) => withWeak || weak === undefined)
  return found.map(([, , tag]) => tag!).filter((tag) => tag !== '*')
}
