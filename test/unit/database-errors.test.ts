import { expect, it } from 'vitest'
import { toFailure } from '../../routers/kernel/database-errors.ts'

it.each([{ code: '40P01' }, { code: '40001' }, { code: 'P2034' }])('%o, after its repetitions, is 503', (thrown) => {
  expect(toFailure(Object.assign(new Error('deadlock detected'), thrown))).toMatchObject({
    status: 503,
    publicCode: 'unavailable',
  })
})
