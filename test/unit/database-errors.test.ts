import { expect, it } from 'vitest'
import { toFailure } from '../../routers/kernel/database-errors.ts'

it("Prisma's own write conflict, after its repetitions, is 503", () => {
  expect(toFailure(Object.assign(new Error('write conflict'), { code: 'P2034' }))).toMatchObject({
    status: 503,
    publicCode: 'unavailable',
  })
})
