import { generateOpenApiDocument } from 'trpc-to-openapi'
import { appRouter } from '../routers/index.ts'
import type { Meta } from '../routers/kernel/meta.ts'
import { findSection } from '../routers/kernel/meta.ts'
import type { Scope, Section } from '../routers/kernel/scopes.ts'
import { scopes, storageScopes } from '../routers/kernel/scopes.ts'
import { scopesAt } from '../routers/section-scopes.ts'
import { completeOperation } from './complete-operation.ts'
import type { Document } from './document.ts'
import { findProcedure, toOperationId } from './document.ts'
import { errorSchemas } from './openapi-errors.ts'
import { headers } from './openapi-headers.ts'
import { withFormats } from './openapi-integers.ts'
import { nameModels } from './openapi-models.ts'
import { sections } from './sections.ts'

/** The release whose API this is, as in package.json. */
const VERSION = '0.1.0'

/** trpc-to-openapi's document of each API, completed. */
export const generateDocuments = (): Record<Section, Document> => ({
  apps: generate('apps'),
  lms: generate('lms'),
  notify: generate('notify'),
  sync: generate('sync'),
})

function generate(section: Section): Document {
  const { title, description, tags } = sections[section]
  const document = generateOpenApiDocument<Meta>(appRouter, {
    title,
    description,
    version: VERSION,
    baseUrl: '/v1',
    filter: ({ metadata }) => findSection(metadata) === section,
    securitySchemes: { bearer: BEARER, member: signIn(section), ...(section === 'sync' && { app: OF_APP }) },
  }) as unknown as Document
  document.info.license = { name: 'All rights reserved', identifier: 'LicenseRef-UNLICENSED' }
  document.tags = [...new Set(Object.values(tags))]
  for (const [path, operations] of Object.entries(document.paths)) {
    const methods = Object.keys(operations).map((method) => method.toUpperCase())
    for (const [method, operation] of Object.entries(operations)) {
      // `storage-put`, by trpc-to-openapi.
      operation.operationId = toOperationId(operation.operationId)
      operation.tags = [tags[path.split('/')[1]!]!.name]
      completeOperation(operation, findProcedure(operation), { method: method.toUpperCase(), methods })
    }
  }
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  document.components.schemas = errorSchemas(operations)
  nameModels(document)
  const used = new Set(
    operations.flatMap(({ responses }) => Object.values(responses).flatMap((one) => Object.keys(one.headers ?? {}))),
  )
  document.components.headers = Object.fromEntries(Object.entries(headers).filter(([name]) => used.has(name)))
  return withFormats(document)
}

const BEARER = {
  type: 'http' as const,
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'An access token from this service or another issuer. API keys and sandbox keys are not accepted.',
}

/** Stands for the issuer, which each service fills in. */
export const ISSUER = '<issuer>'

const describeScopes = (names: readonly Scope[]) =>
  Object.fromEntries(names.map((scope) => [scope, scopes[scope].description]))

const OF_APP = {
  type: 'oauth2' as const,
  description:
    'How the server of an app gets a token for the app itself: with its secret or key, and the parameter `organisation`, a club of which a member allows the app its storage. There is no refresh token.',
  flows: { clientCredentials: { tokenUrl: `${ISSUER}/token`, scopes: describeScopes(storageScopes) } },
}

const signIn = (section: Section) => ({
  type: 'oauth2' as const,
  description:
    'How an app gets a token: the authorization code flow with PKCE (S256). A renewal returns a new refresh token; each can be used once.',
  flows: {
    authorizationCode: {
      authorizationUrl: `${ISSUER}/authorize`,
      tokenUrl: `${ISSUER}/token`,
      refreshUrl: `${ISSUER}/token`,
      scopes: describeScopes(scopesAt(section)),
    },
  },
})
