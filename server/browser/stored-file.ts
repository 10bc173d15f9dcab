import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { errors } from '../../routers/kernel/errors.ts'
import type { StepContext } from '../http/state.ts'

/** A text that is the same for every reader, with its compressed form. */
export interface StoredFile {
  type: string
  text: string
  etag: string
  zipped: Buffer
}

export function storedFile(type: string, text: string): StoredFile {
  const etag = createHash('sha256').update(text).digest('base64url').slice(0, 20)
  return { type: `${type}; charset=utf-8`, text, etag, zipped: gzipSync(text) }
}

export function sendStored(ctx: StepContext, { type, text, etag, zipped }: StoredFile) {
  ctx.vary('Accept-Encoding')
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  ctx.set({ 'Cache-Control': 'no-cache', ETag: isZipped ? `"${etag}-gzip"` : `"${etag}"` })
  ctx.status = 200
  ctx.type = type
  if (isZipped) ctx.set('Content-Encoding', 'gzip')
  if (ctx.fresh) ctx.status = 304
  else ctx.body = isZipped ? zipped : text
}

/** Throws 405. */
export function onlyGet({ method }: StepContext) {
  if (method !== 'GET' && method !== 'HEAD') throw errors.methodWrong('GET, HEAD')
}
