import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'

/** A client's id and secret in the header, where they are form-encoded (RFC 6749, 2.3.1); null for other headers. */
export function parseBasicHeader(
  authorization: string | undefined,
): { id: string | null; secret: string | null } | null {
  const [, basic] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? []
  if (basic === undefined) return null
  const credentials = Buffer.from(basic, 'base64').toString()
  // The address of a document has colons of its own, where it is not encoded.
  const last = credentials.lastIndexOf(':')
  const address = credentials.slice(0, last)
  if (isDocumentAddress(address)) return { id: address, secret: credentials.slice(last + 1) }
  const [id, secret] = credentials.split(':', 2)
  if (secret === undefined) return { id: null, secret: null }
  const decoded = new URLSearchParams(`id=${id}&secret=${secret}`)
  return { id: decoded.get('id'), secret: decoded.get('secret') }
}
