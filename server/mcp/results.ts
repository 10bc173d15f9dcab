import type { CallToolResult } from '@modelcontextprotocol/server'
import { envelope } from '../../rest-facade/envelope.ts'
import type { RestResponse } from '../../rest-facade/facade.ts'
import type { ApiError, ErrorId } from '../../routers/kernel/errors.ts'
import { errorRows, errors } from '../../routers/kernel/errors.ts'

/** More is of no use to a model, whose context holds it. */
export const MAX_RESULT_BYTES = 256 * 1024

/** The body as it is over REST, then the fields that leave there as headers; a file as a resource, whose address is `uri`. */
export function toResult({ body = '', type, headers = [] }: RestResponse, uri: string): CallToolResult {
  if (Buffer.byteLength(body) > MAX_RESULT_BYTES) throw errors.resultTooLarge()
  if (type !== undefined) {
    const resource = { uri, mimeType: type, blob: Buffer.from(body).toString('base64') }
    return { content: [{ type: 'resource', resource }] }
  }
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []))
  return { content: [String(body), ...lines].map((text) => ({ type: 'text', text })) }
}

/** The error as over REST, with what to do about it. */
export function toErrorResult(error: ApiError, requestId: string): CallToolResult {
  const remedy = error.id === '' ? '' : ` ${errorRows[error.id as ErrorId].fix}`
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.publicCode}: ${error.message}${remedy}` }],
    structuredContent: envelope(error, 'sync', requestId),
  }
}
