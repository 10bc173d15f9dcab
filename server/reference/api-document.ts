export interface ApiDocument {
  info: { title: string; description?: string }
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}

export interface Operation {
  operationId: string
  summary?: string
  description?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, Response>
  tags?: string[]
  security?: Record<string, string[]>[]
}

export interface Response {
  description: string
  headers?: Record<string, Parameter>
  content?: Content
}

export type PathOperation = Operation & { method: string; path: string }

/** Also a header, which has neither place nor name. */
export interface Parameter extends Media {
  in: string
  name: string
  required?: boolean
  description?: string
}

export interface Media {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { value?: unknown }>
}

export type Content = { 'application/json'?: Media }

export interface Schema extends Record<'const' | 'default', unknown> {
  type?: string | string[]
  description?: string
  format?: string
  minimum?: number
  maximum?: number
  enum?: unknown[]
  examples?: unknown[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
}

export const listOperations = ({ paths }: ApiDocument): PathOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )

export const readTag = ({ tags: [tag = 'Operations'] = [] }: Operation) => tag

/** The schemas of errors. Those of operations stand with them. */
export const listErrorSchemas = ({ components: { schemas = {} } = {} }: ApiDocument) =>
  ['ApiError', 'Detail'].flatMap((name): [string, Schema][] => (schemas[name] ? [[name, schemas[name]]] : []))

export const listScopes = ({ security = [] }: Operation) => [
  ...new Set(security.flatMap((one) => Object.values(one).flat())),
]

/** Replaces references by what they name; no schema here contains itself. */
export function resolved(document: object): ApiDocument {
  const at = (pointer: string) =>
    pointer.split('/').reduce((part, name) => (name === '#' ? part : (part as Record<string, object>)[name]!), document)
  const resolve = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolve)
    if (typeof part !== 'object' || part === null) return part
    if ('$ref' in part && typeof part.$ref === 'string') return resolve(at(part.$ref))
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resolve(value)]))
  }
  return resolve(document) as ApiDocument
}
