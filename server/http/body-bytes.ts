import type { IncomingMessage } from 'node:http'
import type { ApiError } from '../../routers/kernel/errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { Brake } from './brake.ts'
import { JoinedPieces } from './joined-pieces.ts'
import type { Rate } from './transfer-rate.ts'
import { MIN_UPLOAD, watchRate } from './transfer-rate.ts'

/** Bodies up to this size are read without reserved memory; a request's head may take as much. */
export const SMALL_BODY_BYTES = 16 * 1024

type ReserveBytes = (bytes: number) => Promise<void>

/**
 * Reads a large body only when `reserve` has resolved. Throws `tooLarge()`, 400 if the client disconnects, 408 if it is too slow,
 * and what `reserve` throws.
 */
export async function readBytes(
  request: IncomingMessage,
  limitBytes: number,
  tooLarge: () => ApiError,
  reserve: ReserveBytes,
  minRate = MIN_UPLOAD,
): Promise<Buffer> {
  // Chunked bodies have none.
  const length = Number(request.headers['content-length'] ?? Number.NaN)
  if (length > limitBytes) throw tooLarge()
  // Before anyone listens, Node reads no more than 64 KiB from the socket.
  if (length > SMALL_BODY_BYTES) await reserve(length)
  // Its 'close' event is not emitted again.
  if (request.destroyed) throw errors.bodyCutOff()
  if (length > SMALL_BODY_BYTES) return readLarge(request, length, minRate)
  return readPieces(request, limitBytes, tooLarge, reserve, minRate)
}

/** Into one buffer: joining a list of chunks would take the memory twice. */
function readLarge(request: IncomingMessage, length: number, minRate: Rate): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  let size = 0
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      size += chunk.copy(bytes, size)
    }
    const stopWatching = watchRate(
      minRate,
      () => size,
      () => {
        request.off('data', onData)
        reject(errors.bodyTooSlow())
      },
    )
    request
      .on('data', onData)
      .on('end', () => resolve(bytes))
      .on('close', () => {
        stopWatching()
        if (!request.readableEnded) reject(errors.bodyCutOff())
      })
  })
}

/** For a small body, or a chunked one, whose size is unknown. Uses listeners, as leaving a `for await` destroys the socket. */
function readPieces(
  request: IncomingMessage,
  limitBytes: number,
  tooLarge: () => ApiError,
  reserve: ReserveBytes,
  minRate: Rate,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces = new JoinedPieces(limitBytes)
    let brake: Brake | undefined
    let reserved: Promise<void> | undefined
    const watch = () =>
      watchRate(
        minRate,
        () => pieces.size,
        () => fail(errors.bodyTooSlow()),
      )
    let stopWatching = watch()
    const fail = (error: unknown) => {
      stopWatching()
      request.off('data', onData)
      brake?.release()
      reject(error)
    }
    const reserveThenReadOn = () => {
      stopWatching()
      brake = new Brake(request)
      brake.hold()
      reserved = reserve(limitBytes).then(() => {
        if (!request.readableEnded) stopWatching = watch()
        brake!.release()
      })
      reserved.catch(fail)
    }
    const onData = (piece: Buffer) => {
      if (pieces.size + piece.length > limitBytes) return fail(tooLarge())
      pieces.add(piece)
      if (pieces.size > SMALL_BODY_BYTES && !reserved) reserveThenReadOn()
    }
    request
      .on('data', onData)
      .on('end', () => {
        if (reserved) reserved.then(() => resolve(pieces.join()), fail)
        else resolve(pieces.join())
      })
      .on('close', () => {
        stopWatching()
        if (!request.readableEnded) reject(errors.bodyCutOff())
      })
  })
}
