import { generateOpenApiDocument } from 'trpc-to-openapi'
import { appRouter, procedures } from '../routers/index.ts'
import type { Meta } from '../routers/meta.ts'
import type { Section } from '../routers/scopes.ts'
import type { Json, Operation } from './openapi-operation.ts'
import { completeOperation } from './openapi-operation.ts'
import { sections } from './sections.ts'

/** The part of a document that is read or completed here. The library's type allows references, which it does not write. */
interface Document {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Json }
}

const text = { type: 'string' }
const object = (properties: Json, required = Object.keys(properties)) => ({ type: 'object', properties, required })
const Detail = object({ detail: text })
const ErrorEnvelope = object({
  error: object({ code: text, message: text, request_id: text, reason: text }, ['code', 'message', 'request_id']),
})

/** The procedures that an operation can stand for, by trpc-to-openapi's operation id: `storage.put` is `storage-put`. */
const byOperationId = new Map(
  Object.entries(procedures).map(([name, procedure]) => [
    name.replaceAll('.', '-'),
    { name, procedure, meta: procedure._def.meta as Meta },
  ]),
)

export const procedureOf = ({ operationId }: Operation) => byOperationId.get(operationId)!

/** trpc-to-openapi's document of each API, generated once; the routing table is read from it as well. */
export const documents: Readonly<Record<Section, Document>> = {
  apps: generate('apps'),
  lms: generate('lms'),
  notify: generate('notify'),
}

function generate(section: Section): Document {
  const { title, description } = sections[section]
  const document = generateOpenApiDocument<Meta>(appRouter, {
    title,
    description,
    version: '1',
    baseUrl: '/v1',
    filter: ({ metadata }) => metadata.policy.requires.section === section,
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  }) as unknown as Document
  document.components.schemas = section === 'apps' ? { Detail, Error: ErrorEnvelope } : { Error: ErrorEnvelope }
  for (const operations of Object.values(document.paths)) {
    for (const operation of Object.values(operations)) completeOperation(operation, procedureOf(operation))
  }
  return document
}

/** The OpenAPI 3.1 document of an API at its base URL, and at others. */
export const openApiDocument = (section: Section, ...urls: [string, ...string[]]) => ({
  ...documents[section],
  servers: urls.map((url) => ({ url })),
})
