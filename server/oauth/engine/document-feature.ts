import type { IncomingMessage } from 'node:http'
import type { Configuration } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { ALLOWED_SCOPES, SUSPENDED } from '../consents/authorize-scopes.ts'
import { isHostSuspended } from '../consents/document-clients.ts'
import { DocumentRefused } from './client-document.ts'
import type { ClientDocuments } from './client-documents.ts'
import { errors } from './oidc-provider.ts'

export interface DocumentOptions {
  db: Database
  /** CLIENT_METADATA. */
  documents: ClientDocuments | undefined
  /** The network that a request comes from. */
  readNetwork: (req: IncomingMessage) => string
}

/** The metadata in place of a document is longer by the scopes. */
const MAX_METADATA_BYTES = 16_384

/** oidc-provider's Client ID Metadata Documents; with `features` and a way to read documents, or without both. */
export function documentFeature({ db, documents, readNetwork }: DocumentOptions) {
  if (!documents) return { reading: {}, feature: {} }
  const reading: Pick<Configuration, 'fetch' | 'fetchResponseBodyLimits'> = {
    fetch: (address, options) => documents.fetch(String(address), options!.signal!),
    fetchResponseBodyLimits: { 'client_id metadata document': MAX_METADATA_BYTES },
  }
  const clientIdMetadataDocument: NonNullable<Configuration['features']>['clientIdMetadataDocument'] = {
    enabled: true,
    ack: 'draft-02',
    cacheDuration: documents.cached,
    async allowFetch(ctx, address) {
      // Undefined for a page of a member who has signed in.
      const reason = await documents.findRefusal(address, ctx && readNetwork(ctx.req))
      if (reason === null) return true
      throw new errors.InvalidClient('client_id metadata document fetch failed', { cause: new DocumentRefused(reason) })
    },
    async allowClient(_ctx, client) {
      if (await isHostSuspended(db, client.clientId)) {
        Object.assign(client, { [SUSPENDED]: true, [ALLOWED_SCOPES]: [] })
      }
      return true
    },
  }
  return { reading, feature: { clientIdMetadataDocument } }
}
