import { gzipSync } from 'node:zlib'
import { errors } from '../../routers/kernel/errors.ts'
import { computeTag, isRevalidated } from '../http/revalidation.ts'
import type { StepContext } from '../http/state.ts'

/** A text that is the same for every reader, with its compressed form. */
export interface StoredFile {
  type: string
  text: string
  etag: string
  zipped: Buffer
}

export const storedFile = (type: string, text: string): StoredFile => ({
  type: `${type}; charset=utf-8`,
  text,
  etag: computeTag(text),
  zipped: gzipSync(text),
})

export function sendStored(ctx: StepContext, { type, text, etag, zipped }: StoredFile) {
  ctx.vary('Accept-Encoding')
  const isZipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
  if (isRevalidated(ctx, isZipped ? `"${etag}-gzip"` : `"${etag}"`)) return
  ctx.type = type
  if (isZipped) ctx.set('Content-Encoding', 'gzip')
  ctx.body = isZipped ? zipped : text
}

/** Throws 405. */
export function onlyGet({ method }: StepContext) {
  if (method !== 'GET' && method !== 'HEAD') throw errors.methodWrong('GET, HEAD')
}
