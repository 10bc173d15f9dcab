import { createHash } from 'node:crypto'
import { isNamed } from '../../routers/kernel/entity-tags.ts'
import type { StepContext } from './state.ts'

/**
 * Whether 304 is the response to a reader who has this version (RFC 9110, 13.1.2). Not Koa's `fresh`: it also looks at the
 * request's `Cache-Control: no-cache`, which Node's `fetch` sends by itself beside `If-None-Match`, and at `If-Modified-Since`.
 */
export function isKnown({ method, req }: StepContext, etag: string | undefined): boolean {
  const field = req.headers['if-none-match']
  return field !== undefined && (method === 'GET' || method === 'HEAD') && isNamed(etag, field, 'weak')
}

/** Identifies a content, without quotation marks. */
export const computeTag = (content: string | Buffer) =>
  createHash('sha256').update(content).digest('base64url').slice(0, 20)

/** RFC 9111, 5.2.2.6. */
export const NO_TRANSFORM = 'no-transform'

/** Sets the headers of a response with an ETag, and returns whether it is 304. */
export function isRevalidated(ctx: StepContext, etag: string, caching = 'no-cache'): boolean {
  ctx.set({ 'Cache-Control': `${caching}, ${NO_TRANSFORM}`, ETag: etag })
  const known = isKnown(ctx, etag)
  ctx.status = known ? 304 : 200
  return known
}
