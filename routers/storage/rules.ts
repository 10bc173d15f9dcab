import type { Comparison } from '../kernel/entity-tags.ts'
import { isNamed, namedTags } from '../kernel/entity-tags.ts'
import { etag } from './entry.ts'
import type { Conditions } from './statements.ts'

/** `If-Match` and `If-None-Match` (RFC 9110, 13.1) as arrays of versions. */
export function conditions(given: { ifMatch?: string | undefined; ifNoneMatch?: string | undefined }): Conditions {
  return {
    ifMatch: given.ifMatch === undefined ? null : versions(given.ifMatch, 'strong'),
    ifNoneMatch: given.ifNoneMatch === undefined ? null : versions(given.ifNoneMatch, 'weak'),
  }
}

/** Whether an entry of this version is one that `If-Match` names; without the header every entry is. */
export const meetsIfMatch = (version: string, header: string | undefined): boolean =>
  header === undefined || isNamed(etag(version), header, 'strong')

/** `*` alone stands for any version. */
function versions(header: string, comparison: Comparison): readonly string[] {
  const named = namedTags(header, comparison)
  return named === '*' ? [named] : named.filter((tag) => tag !== '*')
}
