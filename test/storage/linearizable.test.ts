import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { times } from '../support/size.ts'
import type { Answer, Ask, Operation } from './linearizable.ts'
import { isLinearizable } from './linearizable.ts'
import type { Fault } from './simulated-register.ts'
import { simulate } from './simulated-register.ts'

const GET: Ask = { method: 'GET' }
const DELETE: Ask = { method: 'DELETE' }
const put = (value: string, more: Partial<Ask> = {}): Ask => ({ method: 'PUT', value, ...more })
const ok = (etag: string, value?: string): Answer => ({ status: 200, etag, value })
const [absent, gone, changed]: Answer[] = [404, 204, 412].map((status) => ({ status })) as [Answer, Answer, Answer]

type Step = [ask: Ask, answer: Answer | undefined]
/** One after the other. */
const withStoreLock = (...steps: Step[]): Operation[] =>
  steps.map(([ask, answer], i) => ({ ask, answer, called: 2 * i, returned: 2 * i + 1 }))
/** After the given ones, all at the same time. */
const together = (before: Operation[], ...steps: Step[]): Operation[] => [
  ...before,
  ...steps.map(([ask, answer]) => ({ ask, answer, called: 2 * before.length, returned: 2 * before.length + 1 })),
]

const one: Step = [put('one'), ok('"1"')]
const two: Step = [put('two'), ok('"2"')]

const right: Record<string, Operation[]> = {
  'nothing at all': [],
  'what is written is read': withStoreLock([GET, absent], one, [GET, ok('"1"', 'one')], two, [GET, ok('"2"', 'two')]),
  'a read beside a write sees it': together([], [GET, ok('"1"', 'one')], one),
  'a read beside a write does not see it': together([], one, [GET, absent]),
  'two writes at once, of which the first that is told is the last': together(
    together([], one, two),
    [GET, ok('"1"', 'one')],
    [GET, ok('"1"', 'one')],
  ),
  'an entry that goes': withStoreLock([DELETE, absent], one, [DELETE, gone], [GET, absent], [DELETE, absent]),
  'one winner of an If-Match': together(
    withStoreLock(one),
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [put('three', { ifMatch: '"1"' }), changed],
    [{ ...DELETE, ifMatch: '"1"' }, changed],
  ),
  'one winner of an If-None-Match': together(
    [],
    [put('one', { ifNoneMatch: '*' }), changed],
    [put('two', { ifNoneMatch: '*' }), ok('"2"')],
  ),
  'no If-Match fits an absent entry': withStoreLock(
    [put('one', { ifMatch: '*' }), changed],
    [{ ...DELETE, ifMatch: '*' }, changed],
    [{ ...DELETE, ifNoneMatch: '*' }, absent],
  ),
  'a tag that is known already': withStoreLock(one, [
    { ...GET, ifNoneMatch: '"1"' },
    { status: 304, etag: '"1"' },
  ]),
  'a write without an answer that is seen late': withStoreLock(
    [put('one'), undefined],
    [GET, absent],
    [GET, ok('"1"', 'one')],
  ),
  'a write without an answer that is never seen': withStoreLock([put('one'), undefined], [GET, absent], [GET, absent]),
  'a removal without an answer': withStoreLock(one, [DELETE, undefined], [GET, ok('"1"', 'one')], [GET, absent]),
}

const wrong: Record<string, Operation[]> = {
  'a stale read': withStoreLock(one, two, [GET, ok('"1"', 'one')]),
  'a read that does not see the write before it': withStoreLock(one, [GET, absent]),
  'two reads that see two writes in either order': together(
    together([], one, two),
    [GET, ok('"1"', 'one')],
    [GET, ok('"2"', 'two')],
  ),
  'a lost update': withStoreLock(
    one,
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [put('three', { ifMatch: '"1"' }), ok('"3"')],
  ),
  'two winners of one If-Match': together(
    withStoreLock(one),
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [put('three', { ifMatch: '"1"' }), ok('"3"')],
  ),
  'a write and a removal that both win an If-Match': together(
    withStoreLock(one),
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [{ ...DELETE, ifMatch: '"1"' }, gone],
  ),
  'two winners of one If-None-Match': together(
    [],
    [put('one', { ifNoneMatch: '*' }), ok('"1"')],
    [put('two', { ifNoneMatch: '*' }), ok('"2"')],
  ),
  'no winner of an If-Match': together(withStoreLock(one), [put('two', { ifMatch: '"1"' }), changed]),
  'a value that nobody wrote': withStoreLock(one, [GET, ok('"1"', 'other')]),
  'a tag that nobody was given': withStoreLock(one, [GET, ok('"9"', 'one')]),
  'a value with the tag of another': withStoreLock(one, two, [GET, ok('"1"', 'two')]),
  'a tag that is used again': withStoreLock(one, [DELETE, gone], [put('two'), ok('"1"')]),
  'what was removed comes back': withStoreLock(one, [DELETE, gone], [GET, ok('"1"', 'one')]),
  'what was removed is there beside a write': together(withStoreLock(one, [DELETE, gone]), two, [
    GET,
    ok('"1"', 'one'),
  ]),
  'an entry that is removed twice': together(withStoreLock(one), [DELETE, gone], [DELETE, gone]),
  'a removal that finds nothing of what is there': withStoreLock(one, [DELETE, absent]),
  'a tag that is known no more': withStoreLock(one, two, [
    { ...GET, ifNoneMatch: '"1"' },
    { status: 304, etag: '"1"' },
  ]),
  'a write without an answer that is seen before it was sent': withStoreLock(
    [GET, ok('"1"', 'one')],
    [put('one'), undefined],
  ),
  'a write without an answer that comes and goes': withStoreLock(
    [put('one'), undefined],
    [GET, ok('"1"', 'one')],
    [GET, absent],
  ),
  'a write without an answer whose condition never held': withStoreLock(
    [put('one', { ifMatch: '*' }), undefined],
    [GET, ok('"1"', 'one')],
  ),
  'a status that is no answer to it': withStoreLock([put('one'), { status: 503 }]),
}

describe('the checker', () => {
  it.each(Object.keys(right))('accepts: %s', (name) => expect(isLinearizable(right[name]!)).toBe(true))
  it.each(Object.keys(wrong))('rejects: %s', (name) => expect(isLinearizable(wrong[name]!)).toBe(false))
})

/** The share of simulated histories that are accepted. */
function accepted(fault: Fault, runs: number): number {
  let count = 0
  const property = fc.property(fc.noShrink(fc.infiniteStream(fc.nat())), (chance) => {
    if (isLinearizable(simulate((below) => chance.next().value % below, fault))) count++
  })
  fc.assert(property, { numRuns: runs })
  return count / runs
}

describe('of the histories of a register', () => {
  const runs = times(200, 40)

  it('that is right, all are accepted', () => expect(accepted('none', runs)).toBe(1))
  it.each(['stale reads', 'conditions that are looked at too early'] as const)(
    'with %s, most are rejected',
    (fault) => {
      expect(accepted(fault, runs)).toBeLessThan(0.5)
    },
  )
})
