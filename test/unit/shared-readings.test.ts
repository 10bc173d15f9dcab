import { describe, expect, it } from 'vitest'
import { SharedReadings } from '../../routers/kernel/shared-readings.ts'

/** A reading that counts how often it was begun and ended. */
function counted() {
  const counts = { begun: 0, ended: 0 }
  const read = async () => {
    counts.begun++
    return { page: { number: counts.begun }, end: () => void counts.ended++ }
  }
  return { counts, read }
}

describe('a shared reading', () => {
  it('is one for all who want the same, also later, while one of them holds it', async () => {
    const { counts, read } = counted()
    const readings = new SharedReadings()
    const first = await Promise.all([readings.take('a', read), readings.take('a', read)])
    const third = await readings.take('a', read)
    expect(new Set([...first, third].map(({ page }) => page)).size).toBe(1)
    for (const held of first) held.release()
    expect(counts).toEqual({ begun: 1, ended: 0 })
    third.release()
    third.release()
    expect(counts).toEqual({ begun: 1, ended: 1 })
    expect((await readings.take('a', read)).page).toEqual({ number: 2 })
  })

  it('is another for another key', async () => {
    const { counts, read } = counted()
    const readings = new SharedReadings()
    await Promise.all([readings.take('a', read), readings.take('b', read)])
    expect(counts.begun).toBe(2)
  })

  it('that fails, fails for all who want it, and is begun again by the next', async () => {
    const { read } = counted()
    const readings = new SharedReadings()
    const fail = () => Promise.reject(new Error('failed'))
    const both = await Promise.allSettled([readings.take('a', fail), readings.take('a', fail)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect((await readings.take('a', read)).page).toEqual({ number: 1 })
  })

  it('is out of reach for a reader that has released it', async () => {
    const held = await new SharedReadings().take('a', counted().read)
    held.release()
    expect(() => held.page).toThrow('released')
  })
})
