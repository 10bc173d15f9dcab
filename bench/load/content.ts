/** The formats in which servers return the same data: REST, tRPC, tools, and Parse Server's own. */
type DataForm = 'rest' | 'trpc' | 'mcp' | 'parse'
/** `page` is read by people: its answers are not compared, as pages name times. */
export type Form = DataForm | 'page'

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any

const read: Record<DataForm, (body: Json) => Json> = {
  rest: (body) => body,
  trpc: (body) => body.result.data,
  mcp: (body) => JSON.parse(body.result.content[0].text || 'null'),
  parse: (body) =>
    body.results ? { items: body.results.map(pickEntry), total: body.count } : body.key ? pickEntry(body) : body,
}

const pickEntry = ({ key, value, updatedAt }: Json) => ({ key, value, updatedAt })

/**
 * An answer's content as one text, independent of format and order of fields. For write times and the fields `masked`, such as
 * random ids, only their presence counts; ETags are ignored, as only one format has them.
 */
export function normalizeContent(text: string, form: Form, masked: readonly string[] = []): string {
  if (form === 'page') return ''
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
