/** How tags are compared (RFC 9110, 8.8.3.2): a weak one equals no other by the strong comparison. */
export type Comparison = 'strong' | 'weak'

/**
 * An element of a list of tags, which may be empty, and the comma after it. A tag may contain commas, and white space, as in
 * RFC 2616.
 */
const ELEMENT = /[ \t]*(?:(W\/)?"([\t\x20\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y

/**
 * What `If-Match` or `If-None-Match` names: `*` for any version, or the tags that can be equal by the comparison, without quotation
 * marks. A text of another form names nothing (RFC 9110, 13.1.1 and 13.1.2).
 */
export function namedTags(field: string, comparison: Comparison): '*' | readonly string[] {
  if (field === '*') return '*'
  const tags: string[] = []
  for (ELEMENT.lastIndex = 0; ELEMENT.lastIndex < field.length; ) {
    const element = ELEMENT.exec(field)
    if (!element) return []
    const [, weak, tag] = element
    if (tag !== undefined && (comparison === 'weak' || weak === undefined)) tags.push(tag)
  }
  return tags
}

/** Whether a version with this strong ETag, or with none, is among those that the field names. */
export function isNamed(etag: string | undefined, field: string, comparison: Comparison): boolean {
  const named = namedTags(field, comparison)
  return named === '*' || (etag !== undefined && named.includes(etag.slice(1, -1)))
}
