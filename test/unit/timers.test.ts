import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { pause } from '../../clients/sdk/timers.ts'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { Heartbeat } from '../../server/http/heartbeat.ts'
import { LongPollSlots } from '../../server/http/long-poll-slots.ts'
import { RateWatch } from '../../server/http/transfer-rate.ts'
import { throttled } from '../../server/oauth/keys/signing-keys.ts'

// Turns of the event loop pass as they do.
beforeEach(
  () =>
    void vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
    }),
)
afterEach(() => void vi.useRealTimers())

/** A transfer whose rate is watched, by a number of bytes each second. */
function startTransfer() {
  const onTooSlow = vi.fn()
  let bytes = 0
  const end = new RateWatch().add({ bytesPerSecond: 1000, graceMs: 10_000 }, () => bytes, onTooSlow)
  onTestFinished(end)
  const transfer = (bytesPerSecond: number, seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      bytes += bytesPerSecond
      vi.advanceTimersByTime(1000)
    }
  }
  return { onTooSlow, transfer, end }
}

it('lets a transfer at the rate go on', () => {
  const { onTooSlow, transfer } = startTransfer()
  transfer(1000, 600)
  expect(onTooSlow).not.toHaveBeenCalled()
})

it('ends a transfer below the rate once, when its grace is used up', () => {
  const { onTooSlow, transfer } = startTransfer()
  transfer(500, 19)
  expect(onTooSlow).not.toHaveBeenCalled()
  transfer(500, 10)
  expect(onTooSlow).toHaveBeenCalledOnce()
})

it('ends a transfer that stands still, however fast it was before', () => {
  const { onTooSlow, transfer } = startTransfer()
  transfer(1_000_000, 3)
  transfer(0, 9)
  expect(onTooSlow).not.toHaveBeenCalled()
  transfer(0, 1)
  expect(onTooSlow).toHaveBeenCalledOnce()
})

it('does nothing with a transfer after its end', () => {
  const { onTooSlow, transfer, end } = startTransfer()
  end()
  transfer(0, 60)
  expect(onTooSlow).not.toHaveBeenCalled()
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('a heartbeat calls each stream once a period, 50 in a turn of the event loop, and ends with the last stream', async () => {
  const heartbeat = new Heartbeat(15_000)
  const beats = Array<number>(120).fill(0)
  const stops = beats.map((_, n) => heartbeat.add(() => beats[n]!++))
  const sum = () => beats.reduce((all, n) => all + n)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(14_999)
  expect(sum()).toBe(0)
  vi.advanceTimersByTime(1)
  const sums = [sum()]
  for (let turns = 0; turns < 3; turns++) sums.push(await turn().then(sum))
  expect(sums).toEqual([50, 100, 120, 120])

  // One that leaves between two turns is not called again.
  vi.advanceTimersByTime(15_000)
  stops[60]!()
  stops[60]!()
  for (let turns = 0; turns < 3; turns++) await turn()
  expect([beats[59], beats[60], beats[61]]).toEqual([2, 1, 2])
  for (const stop of stops) stop()
  expect(vi.getTimerCount()).toBe(0)
})

it('a deadline that was restarted is over after the whole time again', () => {
  const deadline = new Deadline(1_000)
  vi.advanceTimersByTime(900)
  deadline.restart()
  vi.advanceTimersByTime(900)
  expect(deadline.isOver).toBe(false)
  vi.advanceTimersByTime(100)
  expect(deadline.isOver).toBe(true)
})

function counted() {
  const count = { runs: 0 }
  const call = throttled(async () => void count.runs++, 1_000)
  return { count, call }
}

it('a throttled run begins at once, and then once a second however many ask for it', async () => {
  const { count, call } = counted()
  await call()
  expect(count.runs).toBe(1)
  for (let second = 2; second <= 4; second++) {
    const asked = Array.from({ length: 50 }, call)
    await vi.advanceTimersByTimeAsync(999)
    expect(count.runs).toBe(second - 1)
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(asked)
    expect(count.runs).toBe(second)
  }
})

it('a throttled run begins at once again when nobody has asked for a second', async () => {
  const { count, call } = counted()
  await call()
  await vi.advanceTimersByTimeAsync(1_000)
  await call()
  expect(count.runs).toBe(2)
})

it('the SDK waits as long as it says, and no longer than its signal', async () => {
  const ran: unknown[] = []
  const ending = new AbortController()
  const first = pause(1_000).then(() => ran.push('first'))
  const second = pause(1_000, ending.signal).catch((reason) => ran.push(reason))
  const third = pause(1_000, ending.signal).catch((reason) => ran.push(reason))
  await vi.advanceTimersByTimeAsync(999)
  expect(ran).toEqual([])
  ending.abort('Enough.')
  await Promise.all([second, third])
  expect(ran).toEqual(['Enough.', 'Enough.'])
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1)
  await first
  await expect(pause(1_000, ending.signal)).rejects.toBe('Enough.')
  expect(vi.getTimerCount()).toBe(0)
})

/** A call that a node holds whose drain of 5 s began `passed` ms ago. */
function heldAfter(passed: number) {
  const slots = new LongPollSlots()
  slots.end(5_000)
  vi.advanceTimersByTime(passed)
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  return slots.hold({ team: 'planners', app: 'planner', member: 'anna' }, response)
}

it.each([
  [0, 0, 1_000],
  [0, 0.9999, 1_999],
  [4_900, 0, 100],
])(
  'a node that drains for %i of 5,000 ms, with %d of the random ms, holds a new waiting call for %i',
  (passed, random, ms) => {
    const spy = vi.spyOn(Math, 'random').mockReturnValue(random)
    onTestFinished(() => spy.mockRestore())
    const slot = heldAfter(passed)
    vi.advanceTimersByTime(ms - 1)
    expect(slot.isOver).toBe(false)
    vi.advanceTimersByTime(1)
    expect(slot.isOver).toBe(true)
  },
)

it('a node whose drain is over holds no waiting call', () => {
  expect(heldAfter(5_000).isOver).toBe(true)
})

it('a waiting call that a stopping node answers with a page leaves no timer', () => {
  heldAfter(0).release()
  expect(vi.getTimerCount()).toBe(0)
})
