import { expect } from 'vitest'
import type { Core } from '../../routers/kernel/context.ts'

/** Does the work, which reports once to the workers of other processes that something may be due. */
export async function reportingDue<T>({ due }: Core, work: () => Promise<T>): Promise<T> {
  let reports = 0
  due.onWake = () => void reports++
  try {
    return await work()
  } finally {
    due.onWake = () => {}
    expect(reports).toBe(1)
  }
}
