import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { times } from '../support/rounds.ts'
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
/** Steps in sequence. */
const inSequence = (...steps: Step[]): Operation[] =>
  steps.map(([ask, answer], i) => ({ ask, answer, called: 2 * i, returned: 2 * i + 1 }))
/** Steps that all overlap, after `before`. */
const together = (before: Operation[], ...steps: Step[]): Operation[] => [
  ...before,
  ...steps.map(([ask, answer]) => ({ ask, answer, called: 2 * before.length, returned: 2 * before.length + 1 })),
]

const one: Step = [put('one'), ok('"1"')]
const two: Step = [put('two'), ok('"2"')]

const right: Record<string, Operation[]> = {
  'an empty history': [],
  'a read after each write': inSequence([GET, absent], one, [GET, ok('"1"', 'one')], two, [GET, ok('"2"', 'two')]),
  'a concurrent read that sees the write': together([], [GET, ok('"1"', 'one')], one),
  'a concurrent read that does not see the write': together([], one, [GET, absent]),
  'two concurrent writes in either order': together(
    together([], one, two),
    [GET, ok('"1"', 'one')],
    [GET, ok('"1"', 'one')],
  ),
  'a removal': inSequence([DELETE, absent], one, [DELETE, gone], [GET, absent], [DELETE, absent]),
  'one winner with If-Match': together(
    inSequence(one),
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [put('three', { ifMatch: '"1"' }), changed],
    [{ ...DELETE, ifMatch: '"1"' }, changed],
  ),
  'one winner with If-None-Match': together(
    [],
    [put('one', { ifNoneMatch: '*' }), changed],
    [put('two', { ifNoneMatch: '*' }), ok('"2"')],
  ),
  'If-Match on an absent entry': inSequence(
    [put('one', { ifMatch: '*' }), changed],
    [{ ...DELETE, ifMatch: '*' }, changed],
    [{ ...DELETE, ifNoneMatch: '*' }, absent],
  ),
  'a 304 for the current tag': inSequence(one, [
    { ...GET, ifNoneMatch: '"1"' },
    { status: 304, etag: '"1"' },
  ]),
  'an unanswered write that takes effect late': inSequence(
    [put('one'), undefined],
    [GET, absent],
    [GET, ok('"1"', 'one')],
  ),
  'an unanswered write that never takes effect': inSequence([put('one'), undefined], [GET, absent], [GET, absent]),
  'an unanswered removal': inSequence(one, [DELETE, undefined], [GET, ok('"1"', 'one')], [GET, absent]),
}

const wrong: Record<string, Operation[]> = {
  'a stale read': inSequence(one, two, [GET, ok('"1"', 'one')]),
  'a read that misses an earlier write': inSequence(one, [GET, absent]),
  'two later reads that each see a different write': together(
    together([], one, two),
    [GET, ok('"1"', 'one')],
    [GET, ok('"2"', 'two')],
  ),
  'a lost update': inSequence(
    one,
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [put('three', { ifMatch: '"1"' }), ok('"3"')],
  ),
  'two winners with one If-Match': together(
    inSequence(one),
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [put('three', { ifMatch: '"1"' }), ok('"3"')],
  ),
  'a write and a removal that both succeed with one If-Match': together(
    inSequence(one),
    [put('two', { ifMatch: '"1"' }), ok('"2"')],
    [{ ...DELETE, ifMatch: '"1"' }, gone],
  ),
  'two winners with If-None-Match: *': together(
    [],
    [put('one', { ifNoneMatch: '*' }), ok('"1"')],
    [put('two', { ifNoneMatch: '*' }), ok('"2"')],
  ),
  'a refused If-Match with the current tag': together(inSequence(one), [put('two', { ifMatch: '"1"' }), changed]),
  'a value that was never written': inSequence(one, [GET, ok('"1"', 'other')]),
  'a tag that was never issued': inSequence(one, [GET, ok('"9"', 'one')]),
  'a value with the tag of another': inSequence(one, two, [GET, ok('"1"', 'two')]),
  'a reused tag': inSequence(one, [DELETE, gone], [put('two'), ok('"1"')]),
  'a removed entry that returns': inSequence(one, [DELETE, gone], [GET, ok('"1"', 'one')]),
  'a removed entry read during a new write': together(inSequence(one, [DELETE, gone]), two, [GET, ok('"1"', 'one')]),
  'an entry removed twice': together(inSequence(one), [DELETE, gone], [DELETE, gone]),
  'a 404 for the removal of a present entry': inSequence(one, [DELETE, absent]),
  'a 304 for a stale tag': inSequence(one, two, [
    { ...GET, ifNoneMatch: '"1"' },
    { status: 304, etag: '"1"' },
  ]),
  'an unanswered write seen before it was sent': inSequence([GET, ok('"1"', 'one')], [put('one'), undefined]),
  'an unanswered write that appears and disappears': inSequence(
    [put('one'), undefined],
    [GET, ok('"1"', 'one')],
    [GET, absent],
  ),
  'an unanswered write whose condition never held': inSequence(
    [put('one', { ifMatch: '*' }), undefined],
    [GET, ok('"1"', 'one')],
  ),
  'an unexpected status': inSequence([put('one'), { status: 503 }]),
}

describe('isLinearizable', () => {
  it.each(Object.keys(right))('accepts: %s', (name) => expect(isLinearizable(right[name]!)).toBe(true))
  it.each(Object.keys(wrong))('rejects: %s', (name) => expect(isLinearizable(wrong[name]!)).toBe(false))
})

/** The share of simulated histories that is accepted. */
function accepted(fault: Fault, runs: number): number {
  let count = 0
  const property = fc.property(fc.noShrink(fc.infiniteStream(fc.nat())), (chance) => {
    if (isLinearizable(simulate((below) => chance.next().value % below, fault))) count++
  })
  fc.assert(property, { numRuns: runs })
  return count / runs
}

describe('isLinearizable on simulated histories', () => {
  const runs = times(200, 40)

  it('accepts all of a correct register', () => expect(accepted('none', runs)).toBe(1))
  it.each(['stale reads', 'conditions checked too early'] as const)('rejects most of a register with %s', (fault) => {
    expect(accepted(fault, runs)).toBeLessThan(0.5)
  })
})
