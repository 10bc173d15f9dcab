import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asRead } from '../../routers/kernel/equal-texts.ts'
import { fullName, labelsOf } from '../../routers/kernel/labels.ts'
import { times } from '../support/rounds.ts'

const numRuns = times(20_000, 500)

const person = (id: string, name: string, ...hints: (string | null)[]) => ({ id, name, hints })
const labels = (...people: ReturnType<typeof person>[]) => [...labelsOf(people, ({ hints }) => hints).values()]

describe('the label of a person', () => {
  it.each([
    ['Anna', 'Ahlers', 'Anna Ahlers'],
    ['Anna', '', 'Anna'],
    ['', '', 'p1'],
    [' ', '\u00a0', 'p1'],
    ['\u200b', '\u3164', 'p1'],
    ['\u200d', '', 'p1'],
  ])('of %j and %j is %j', (firstName, lastName, label) => {
    expect(fullName({ id: 'p1', firstName, lastName })).toBe(label)
  })
})

describe('the labels of a list', () => {
  it('are the names where these differ', () => {
    expect(labels(person('1', 'Anna', '2001'), person('2', 'Ben', '2001'))).toEqual(['Anna', 'Ben'])
  })

  it('have the first hint that distinguishes equal names', () => {
    expect(labels(person('1', 'Anna', '1980', 'Club'), person('2', 'Anna ', '2011', 'Club'))).toEqual([
      'Anna (1980)',
      'Anna (2011)',
    ])
    expect(labels(person('1', 'Anna', null, 'A'), person('2', 'Anna', null, 'B'))).toEqual(['Anna (A)', 'Anna (B)'])
    expect(labels(person('1', 'Anna', '1980'), person('2', 'Anna', null))).toEqual(['Anna (1980)', 'Anna'])
    expect(labels(person('1', 'Zoë', '1980'), person('2', 'Zoe\u0308', '1980'))).toEqual(['Zoë (1)', 'Zoe\u0308 (2)'])
  })

  it('name the same organisation in the same way', () => {
    const clubs = [
      { id: 'a', name: 'Club' },
      { id: 'a', name: 'Club' },
      { id: 'b', name: 'Club' },
    ]
    expect([...labelsOf(clubs)]).toEqual([
      ['a', 'Club (a)'],
      ['b', 'Club (b)'],
    ])
  })

  it('are never empty and never equal for a reader', () => {
    const text = fc.constantFrom(
      '',
      ' ',
      '\u200b',
      'Anna',
      'Anna ',
      'Zoë',
      'Zoe\u0308',
      '1',
      'Anna (1)',
      'Anna (2001)',
      '1 (1)',
    )
    const hint = fc.constantFrom(null, '', '1', '2001', 'Club')
    const people = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('1', '2', '3', '2001', 'Anna', 'Club'),
        name: text,
        hints: fc.array(hint, { maxLength: 2 }),
      }),
      { selector: ({ id }) => id },
    )
    fc.assert(
      fc.property(people, (people) => {
        const given = [...labelsOf(people, ({ hints }) => hints).values()].map(asRead)
        expect(given).not.toContain('')
        expect(new Set(given).size).toBe(people.length)
      }),
      { numRuns },
    )
  })
})
