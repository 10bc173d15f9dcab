import { describe, expect, it } from 'vitest'
import { allocatedBytes } from '../../bench/allocation.ts'
import { contentOf } from '../../bench/content.ts'
import { percentile, ratioOf } from '../../bench/figures.ts'
import { figuresOf } from '../../bench/rows.ts'
import { openLoop } from '../../bench/schedule.ts'
import { verdictOn } from '../../bench/verdict.ts'

const round = (cpu: number) => ({ cpu, perSecond: 1, p50: 1, p99: 1 })
const measured = (name: string, ...cpu: number[]) => ({ name, rounds: cpu.map(round), allocated: 0, rss: 0 })

describe('figures', () => {
  it('give the smallest number that a share of all do not exceed as its percentile', () => {
    const numbers = Array.from({ length: 200 }, (_, i) => 200 - i)
    expect([0.5, 0.99, 1].map((share) => percentile(numbers, share))).toEqual([100, 198, 200])
    expect(percentile([7], 0.99)).toBe(7)
  })

  it('give the ratio of the medians, and the range of the ratios by round', () => {
    expect(ratioOf([100, 200, 100], [150, 260, 170])).toEqual({ median: 1.7, least: 1.3, most: 1.7 })
  })

  it('compare every server with the first, and only the second with the target', () => {
    const row = {
      name: 'get',
      target: 1.5,
      servers: [measured('bare', 10), measured('service', 16), measured('peer', 40)],
    }
    expect(figuresOf(row).map(({ ratio, isBeyond }) => [ratio?.median, isBeyond])).toEqual([
      [undefined, false],
      [1.6, true],
      [4, false],
    ])
  })
})

describe('allocated bytes', () => {
  it('are the growth from each collection to the next', () => {
    const collections = [
      { before: 150, after: 90 },
      { before: 190, after: 95 },
    ]
    expect(allocatedBytes({ first: 100, collections, last: 100 })).toBe(50 + 100 + 5)
  })
})

describe('what an answer says', () => {
  const entry = { key: 'a', value: { n: [1] }, updatedAt: 1 }
  const rest = contentOf(JSON.stringify(entry), 'rest')

  it('is the same over REST, tRPC and in the form of Parse Server, whatever the order of fields', () => {
    const { key, ...others } = entry
    expect(contentOf(JSON.stringify({ result: { data: { ...others, key, etag: '"1"' } } }), 'trpc')).toBe(rest)
    expect(contentOf(JSON.stringify({ ...entry, objectId: 'x', tenant: 't', updatedAt: '2026' }), 'parse')).toBe(rest)
    const page = contentOf(JSON.stringify({ items: [entry], total: 1 }), 'rest')
    expect(contentOf(JSON.stringify({ count: 1, results: [{ ...entry, objectId: 'x' }] }), 'parse')).toBe(page)
  })

  it('differs by any value, missing field and order of a list', () => {
    for (const other of [
      { ...entry, value: { n: [2] } },
      { key: 'a', value: { n: [1] } },
      { ...entry, more: null },
    ]) {
      expect(contentOf(JSON.stringify(other), 'rest')).not.toBe(rest)
    }
    expect(contentOf('[1,2]', 'rest')).not.toBe(contentOf('[2,1]', 'rest'))
  })

  it('has of times of writing and masked fields only that they are there', () => {
    expect(contentOf('{"id":"1","updatedAt":5}', 'rest', ['id'])).toBe(
      contentOf('{"updatedAt":6,"id":"2"}', 'rest', ['id']),
    )
    expect(contentOf('{"updatedAt":5}', 'rest', ['id'])).not.toBe(contentOf('{"id":"2","updatedAt":5}', 'rest', ['id']))
  })
})

describe('an open loop', () => {
  it('returns each request once it is due, also those of a late tick, until the last', () => {
    const schedule = openLoop(100, 0.05)
    expect(schedule.due(-1)).toEqual([])
    expect(schedule.due(10)).toEqual([0, 1])
    expect(schedule.due(39)).toEqual([2, 3])
    expect([schedule.isOver(), schedule.due(1000), schedule.isOver()]).toEqual([false, [4], true])
    expect([schedule.count, schedule.at(4)]).toEqual([5, 40])
  })
})

describe('the check', () => {
  it('fails a row beyond 1.25 of its target, by all of its rounds', () => {
    const [base, near, far] = [round(100), round(240), round(260)]
    const row = { row: 'get', target: 2 }
    expect(verdictOn(row, [base], [far]).isBeyond).toBe(true)
    expect(verdictOn(row, [base], [near]).isBeyond).toBe(false)
    expect(verdictOn(row, [base, base, base], [far, near, near]).isBeyond).toBe(false)
    expect(verdictOn({ ...row, reached: 2.5 }, [base], [far]).isBeyond).toBe(false)
  })
})
