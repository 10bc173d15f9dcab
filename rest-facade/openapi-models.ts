import { isDeepStrictEqual } from 'node:util'
import type { Document } from './document.ts'
import type { Json } from './openapi-operation.ts'

/**
 * Moves each schema with a title to the components, under that name: generators name their types by it, and those of schemas in
 * place by operation and position. Throws for two different schemas with one name.
 */
export function nameModels(document: Document) {
  const models: Record<string, Json> = {}
  const named = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(named)
    if (typeof part !== 'object' || part === null) return part
    const inner = Object.fromEntries(
      Object.entries(part).map(([key, value]) => [key, key === 'examples' ? value : named(value)]),
    )
    const { title, ...schema } = inner
    // A property may be called title: its schema is an object.
    if (typeof title !== 'string') return inner
    if (models[title] && !isDeepStrictEqual(models[title], schema)) throw new Error(`Two models are named ${title}.`)
    models[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }
  for (const operation of Object.values(document.paths).flatMap((operations) => Object.values(operations))) {
    for (const body of [operation.requestBody, ...Object.values(operation.responses)]) {
      const content = body?.content?.['application/json']
      if (content) content.schema = named(content.schema) as typeof content.schema
    }
  }
  document.components.schemas = { ...document.components.schemas, ...models }
}
