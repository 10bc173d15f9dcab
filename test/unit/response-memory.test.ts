import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { createRoom } from '../../server/http/response-memory.ts'

const MB = 1024 * 1024
const response = () => new ServerResponse(new IncomingMessage(new Socket()))

/** Of what was reserved, what is granted by now. */
async function granted(reserved: Promise<void>[]): Promise<boolean[]> {
  await new Promise(setImmediate)
  const open = Symbol()
  const states = reserved.map((one) => Promise.race([one.then(() => true), Promise.resolve(open)]))
  return (await Promise.all(states)).map((state) => state !== open)
}

it('large answers are put together one by one; the parts of one do not wait for each other', async () => {
  const room = createRoom()
  const first = room(response())
  await first.reserve(2 * MB)
  const batch = room(response())
  const parts = [batch.reserve(2 * MB), batch.reserve(2 * MB), batch.reserve(2 * MB)]
  expect(await granted(parts)).toEqual([false, false, false])
  first.assembled()
  await Promise.all(parts)

  const third = [room(response()).reserve(2 * MB)]
  expect(await granted(third)).toEqual([false])
  batch.assembled()
  await Promise.all(third)
})

it('an answer whose client leaves gives its turn and its room back', async () => {
  const room = createRoom()
  const left = response()
  const { reserve } = room(left)
  await Promise.all(Array.from({ length: 32 }, () => reserve(3 * MB)))
  // Node warns of more than ten.
  expect(left.listenerCount('close')).toBe(1)
  const next = [room(response()).reserve(1024 * MB)]
  expect(await granted(next)).toEqual([false])
  left.emit('close')
  await Promise.all(next)
})
