/** The forms in which servers say the same: REST, tRPC, and Parse Server's own. */
export type Form = 'rest' | 'trpc' | 'parse'

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any

const read: Record<Form, (body: Json) => Json> = {
  rest: (body) => body,
  trpc: (body) => body.result.data,
  parse: (body) =>
    body.results ? { items: body.results.map(entryOf), total: body.count } : body.key ? entryOf(body) : body,
}

const entryOf = ({ key, value, updatedAt }: Json) => ({ key, value, updatedAt })

/**
 * What an answer says, as one text: in any form and any order of fields. Times of writing and the fields `masked`, such as
 * random ids, count only as present; ETags are of one form alone.
 */
export function contentOf(text: string, form: Form, masked: readonly string[] = []): string {
  return JSON.stringify(text === '' ? null : (read[form](JSON.parse(text)) ?? null), (_name, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const fields = Object.keys(value)
      .filter((field) => field !== 'etag')
      .sort()
    return Object.fromEntries(
      fields.map((field) => [field, field === 'updatedAt' || masked.includes(field) ? '…' : value[field]]),
    )
  })
}
