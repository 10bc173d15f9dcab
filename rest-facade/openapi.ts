import { readFileSync } from 'node:fs'
import type { Section } from '../routers/scopes.ts'
import type { Document } from './document.ts'

/**
 * The document of each API, generated once: by the build, beside this file, or here where the sources run. The routing table
 * is read from it as well.
 */
export const documents: Readonly<Record<Section, Document>> =
  builtDocuments() ?? (await import('./openapi-documents.ts')).generateDocuments()

function builtDocuments(): Record<Section, Document> | undefined {
  try {
    return JSON.parse(readFileSync(new URL('documents.json', import.meta.url), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The OpenAPI 3.1 document of an API at its base URL, and at others. */
export const openApiDocument = (section: Section, ...urls: [string, ...string[]]) => ({
  ...documents[section],
  servers: urls.map((url) => ({ url })),
})
