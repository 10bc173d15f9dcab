import { describe, expect, it } from 'vitest'
import { PictureRefused, rewritten, UNREADABLE } from '../../routers/developer/pictures/reencode.ts'
import { reencodeInWorker } from '../../routers/developer/pictures/worker-thread.ts'
import { fault } from '../../routers/developer/shared/validation.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { encodeJpeg, makePixels } from '../support/pictures.ts'

const photo = encodeJpeg(makePixels(512))

/** How often the event loop turns until the work is done. */
async function countTurns(work: Promise<unknown>) {
  let turns = 0
  let done = false
  const settled = work.finally(() => {
    done = true
  })
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  await settled
  return turns
}

describe('a picture that is re-encoded in a thread of its own', () => {
  it('becomes the same PNG, and leaves the event loop to others', async () => {
    const expected = await rewritten(photo)
    expect(Buffer.from(await reencodeInWorker(photo)).equals(expected)).toBe(true)
    expect(await countTurns(rewritten(photo))).toBeLessThan(50)
    expect(await countTurns(reencodeInWorker(photo))).toBeGreaterThan(200)
  })

  it('is refused in the same words', async () => {
    const refused = new PictureRefused(UNREADABLE)
    await expect(reencodeInWorker(photo.subarray(0, photo.length >> 1))).rejects.toThrow(refused)
    const other = new PictureRefused(fault('picture', 'pictureFormat'))
    await expect(reencodeInWorker(Buffer.from('<svg/>'))).rejects.toThrow(other)
  })

  it('gets 503 when the machine is too busy for it, and the next one is served', async () => {
    await expect(reencodeInWorker(photo, 1)).rejects.toThrow(errors.unavailable().message)
    expect((await reencodeInWorker(photo)).length).toBeGreaterThan(0)
  })
})
