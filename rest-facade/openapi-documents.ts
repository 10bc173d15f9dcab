import { generateOpenApiDocument } from 'trpc-to-openapi'
import { appRouter } from '../routers/index.ts'
import type { Meta } from '../routers/meta.ts'
import type { Section } from '../routers/scopes.ts'
import type { Document } from './document.ts'
import { procedureOf } from './document.ts'
import type { Json } from './openapi-operation.ts'
import { completeOperation } from './openapi-operation.ts'
import { sections } from './sections.ts'

const text = { type: 'string' }
const object = (properties: Json, required = Object.keys(properties)) => ({ type: 'object', properties, required })
const Detail = object({ detail: text })
const ErrorEnvelope = object({
  error: object({ code: text, message: text, request_id: text, reason: text }, ['code', 'message', 'request_id']),
})

/** trpc-to-openapi's document of each API. */
export const generateDocuments = (): Record<Section, Document> => ({
  apps: generate('apps'),
  lms: generate('lms'),
  notify: generate('notify'),
})

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
