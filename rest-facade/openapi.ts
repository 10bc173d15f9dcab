import { existsSync, readFileSync } from 'node:fs'
import type { Section } from '../routers/kernel/scopes.ts'
import type { Document } from './document.ts'
import { documentsFile } from './documents-file.ts'

/** Generated where the sources run; a build has them in a file. */
let found = existsSync(documentsFile) ? undefined : (await import('./openapi-documents.ts')).generateDocuments()

/**
 * The document of each API. The file is read at first use: 3 ms and 1 MB that a start does not need. `<brand>`, `<host>` and
 * `<issuer>` stand for what differs between services.
 */
export const documents = (): Readonly<Record<Section, Document>> =>
  (found ??= JSON.parse(readFileSync(documentsFile, 'utf8')))

/** What a service says of itself in its documents. */
export interface Served {
  /** Base addresses of the API: first the one at which the document was asked for, as generators and tools take it. */
  urls: readonly string[]
  /** With its port, as the error for another host names it. */
  host: string
  brand: string
  /** The authorization server, unless an external one issues the tokens, whose addresses are unknown here. */
  issuer?: string | undefined
}

/** The OpenAPI 3.1 document of an API as a service serves it. */
export function openApiDocument(section: Section, { urls, host, brand, issuer }: Served): Document {
  const values: Record<string, string> = { '<brand>': brand, '<host>': host, '<issuer>': issuer ?? '' }
  const text = JSON.stringify(documents()[section]).replace(/<(?:brand|host|issuer)>/g, (name) =>
    JSON.stringify(values[name]).slice(1, -1),
  )
  const document: Document = JSON.parse(text)
  if (issuer === undefined) leaveOutSignIn(document)
  const docs = `${urls[0]}/docs`
  return {
    ...document,
    info: { ...document.info, contact: { name: brand, url: docs } },
    externalDocs: { url: docs, description: 'This reference as a page, where each call can be tried out.' },
    servers: urls.map((url) => ({ url })),
  }
}

function leaveOutSignIn({ components, paths }: Document) {
  components.securitySchemes = { bearer: components.securitySchemes.bearer }
  for (const operation of Object.values(paths).flatMap((operations) => Object.values(operations))) {
    operation.security = operation.security!.filter((scheme) => scheme.bearer)
  }
}
