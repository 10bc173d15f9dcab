import { expect, it } from 'vitest'
import { findBirthdays } from '../../routers/kernel/consent-ages.ts'

const ages = new Map([
  ['', 16],
  ['AT', 14],
])

it.each([
  ['2026-11-29T00:00:00Z', '2010-11-29', '2012-11-29'],
  ['2026-11-28T23:59:59.999Z', '2010-11-28', '2012-11-28'],
  ['2028-02-29T12:00:00Z', '2012-02-29', '2014-02-29'],
])('at %s members born by %s are 16, by %s 14', (at, elsewhere, austria) => {
  expect(findBirthdays(ages, Date.parse(at))).toEqual({ '': elsewhere, AT: austria })
})

it('a member born on 29 February is of age on 1 March of another year, one born on 1 March not before', () => {
  const isOfAge = (birthday: string, at: string) => birthday <= findBirthdays(ages, Date.parse(at)).AT!
  expect(['2026-02-28', '2026-03-01'].map((day) => isOfAge('2012-02-29', day))).toEqual([false, true])
  expect(['2028-02-29', '2028-03-01'].map((day) => isOfAge('2014-03-01', day))).toEqual([false, true])
})
