import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { logRefusals } from '../../server/http/refusal-log.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

function refusals() {
  const lines: string[] = []
  const reasonFor = logRefusals(pino({}, { write: (line) => void lines.push(line) }))
  return { reasonFor, lines: () => lines.splice(0).map((line) => JSON.parse(line)) }
}

const refused = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' })

describe('requests that are refused in an outage', () => {
  it('are one with its reason, then a count every 5 s, until none was refused for 5 s', () => {
    const { reasonFor, lines } = refusals()
    expect(reasonFor(refused())).toBe('connect ECONNREFUSED 127.0.0.1:5432')
    for (let i = 0; i < 1_000; i++) expect(reasonFor(refused())).toBeUndefined()
    expect(reasonFor(new Error('Query read timeout'))).toBeUndefined()
    vi.advanceTimersByTime(4_999)
    expect(lines()).toEqual([])
    vi.advanceTimersByTime(1)
    const msg = 'more requests were refused'
    expect(lines()).toMatchObject([{ level: 50, refused: 1_001, reason: 'Query read timeout', msg }])
    expect(reasonFor(refused())).toBeUndefined()
    vi.advanceTimersByTime(5_000)
    expect(lines()).toMatchObject([{ refused: 1, reason: 'connect ECONNREFUSED 127.0.0.1:5432', msg }])
    vi.advanceTimersByTime(60_000)
    expect([lines(), vi.getTimerCount()]).toEqual([[], 0])
    expect(reasonFor(refused())).toBe('connect ECONNREFUSED 127.0.0.1:5432')
  })

  it('have a reason of one line: the message of the innermost cause, or its code', async () => {
    const readReason = (error: unknown) => refusals().reasonFor(error)
    expect(readReason(new TypeError('fetch failed', { cause: refused() }))).toBe('connect ECONNREFUSED 127.0.0.1:5432')
    expect(readReason(Object.assign(new AggregateError([refused()], ''), { code: 'ECONNREFUSED' }))).toBe(
      'ECONNREFUSED',
    )
    expect(readReason(new Error('\nInvalid `db.a.b()` invocation:\n\n\nNo server at `a:1`\n'))).toBe(
      'No server at `a:1`',
    )
    const cause = { originalCode: '57P01', originalMessage: 'canary' }
    expect(readReason(new Error('Terminated', { cause }))).toBe('Terminated')
    const overdue = await new Deadline(0).bound(new Promise<never>(() => {})).catch(({ cause }) => cause)
    expect(readReason(overdue)).toBe('the deadline of the request is over')
    const endless = new Error('a')
    endless.cause = endless
    expect(readReason(endless)).toBe('a')
    expect([readReason('text'), readReason(undefined)]).toEqual(['text', 'undefined'])
  })
})
