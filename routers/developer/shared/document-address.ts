import { parseUrl } from '../../../prisma/parse-url.ts'

/** Whether a client's id is the address of the document that describes it. Ids that are registered have no colon. */
export const isDocumentAddress = (id: string) => id.startsWith('https://') && parseUrl(id) !== null

/** The id of the team, and of the app, of all clients at a document's host: `https://example.org`. */
export const findHostId = (address: string) => new URL(address).origin
