/** A client's id and secret in the header, where they are form-encoded (RFC 6749, 2.3.1); null for other headers. */
export function parseBasicHeader(
  authorization: string | undefined,
): { id: string | null; secret: string | null } | null {
  const [, basic] = /^Basic +(\S+)$/i.exec(authorization ?? '') ?? []
  if (basic === undefined) return null
  const [id, secret] = Buffer.from(basic, 'base64').toString().split(':', 2)
  if (secret === undefined) return { id: null, secret: null }
  const decoded = new URLSearchParams(`id=${id}&secret=${secret}`)
  return { id: decoded.get('id'), secret: decoded.get('secret') }
}
