import type { IncomingMessage } from 'node:http'
import { SMALL_BODY_BYTES } from '../../http/body-bytes.ts'
import { toNetwork } from '../../http/client-address.ts'
import { JoinedPieces } from '../../http/joined-pieces.ts'
import type { MemoryBudget } from '../../http/memory-budget.ts'
import { reserveUntilSent } from '../../http/memory-lease.ts'
import type { StepContext } from '../../http/state.ts'

/** oidc-provider's own limit. */
export const MAX_BODY_BYTES = 56 * 1024

/**
 * Reserves memory for a body that may be large. One of unknown length counts as the largest; one that is too large is not read.
 * Throws 503.
 */
export async function reserveBody({ req, res, state }: StepContext, memory: MemoryBudget): Promise<void> {
  const bytes = Number(req.headers['content-length'] ?? MAX_BODY_BYTES)
  if (bytes <= SMALL_BODY_BYTES || bytes > MAX_BODY_BYTES) return
  await reserveUntilSent(memory, res, `address ${toNetwork(state.clientAddress ?? '')}`, bytes, 'text')
}

/** Reads a body and puts it back, for the next reader; null without a body, or for one above `maxBytes` or cut off. */
export function peekBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const isChunked = request.headers['transfer-encoding'] !== undefined
  const length = Number(request.headers['content-length'] ?? 0)
  if (!isChunked && !(length > 0 && length <= maxBytes)) return Promise.resolve(null)
  const isEmpty = () => request.complete && request.readableLength === 0
  const isWhole = (size: number) => (isChunked ? request.complete : size >= length)
  if (isChunked && isEmpty()) return Promise.resolve(null)
  return new Promise((resolve) => {
    // A piece may bring more than the limit.
    const pieces = new JoinedPieces(Number.POSITIVE_INFINITY)
    const done = (body: Buffer | null) => {
      request.off('readable', take).off('close', cutOff)
      resolve(body)
    }
    const cutOff = () => done(null)
    const take = () => {
      // A read would end it before its next reader.
      if (pieces.size === 0 && isEmpty()) return done(null)
      for (let piece = request.read(); piece !== null; piece = request.read()) {
        pieces.add(piece)
        if (pieces.size > maxBytes || (!isChunked && isWhole(pieces.size))) break
      }
      const { size } = pieces
      if (size <= maxBytes && !isWhole(size)) return
      const body = pieces.join()
      // Before 'end' is emitted, which waits for this to be read.
      request.unshift(body)
      done(size > 0 && size <= maxBytes ? body : null)
    }
    request.on('readable', take).on('close', cutOff)
  })
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** Lets `rewrite` change the form of a body before oidc-provider reads it; it returns whether it has. */
export async function rewriteForm(
  request: IncomingMessage,
  rewrite: (form: URLSearchParams) => boolean | Promise<boolean>,
): Promise<void> {
  if (!FORM_TYPE.test(request.headers['content-type'] ?? '')) return
  const body = await peekBody(request, MAX_BODY_BYTES)
  if (!body) return
  const form = new URLSearchParams(body.toString())
  if (!(await rewrite(form))) return
  const changed = Buffer.from(form.toString())
  request.read(body.length)
  request.unshift(changed)
  request.headers['content-length'] = String(changed.length)
}
