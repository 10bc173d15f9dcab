import { describe, expect, it } from 'vitest'
import { ConnectionShares } from '../../prisma/pg/connection-shares.ts'

const NEVER = 2 ** 31 - 1

/** Work of teams that goes on until it is ended, in the order in which it began. */
function workOn(shares: ConnectionShares) {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const begin = (team: string) =>
    shares.run(team, () => {
      begun.push(team)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const endFirst = async () => {
    ends.shift()!()
    await settle()
  }
  return { begun, begin, endFirst, settle }
}

describe('the connections of a pool', () => {
  it('are all for one team while no other waits', async () => {
    const { begun, begin, settle } = workOn(new ConnectionShares({ places: 4, waitMs: NEVER }))
    for (let i = 0; i < 6; i++) void begin('a')
    await settle()
    expect(begun).toEqual(['a', 'a', 'a', 'a'])
  })

  it('go to a team that waits until it has its half, then to the longest waiting', async () => {
    const { begun, begin, endFirst, settle } = workOn(new ConnectionShares({ places: 4, waitMs: NEVER }))
    for (let i = 0; i < 8; i++) void begin('a')
    for (let i = 0; i < 4; i++) void begin('b')
    await settle()
    for (let i = 0; i < 4; i++) await endFirst()
    expect(begun.slice(4)).toEqual(['b', 'b', 'a', 'a'])
  })

  it('go to waiting teams one after the other', async () => {
    const { begun, begin, endFirst, settle } = workOn(new ConnectionShares({ places: 4, waitMs: NEVER }))
    for (let i = 0; i < 4; i++) void begin('a')
    for (const team of ['b', 'b', 'c', 'c', 'd']) void begin(team)
    await settle()
    for (let i = 0; i < 4; i++) await endFirst()
    expect(begun.slice(4)).toEqual(['b', 'c', 'd', 'b'])
  })

  it('are free again after work that fails', async () => {
    const shares = new ConnectionShares({ places: 1, waitMs: NEVER })
    await expect(shares.run('a', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(await shares.run('b', async () => 1)).toBe(1)
  })

  it('are refused to work that has waited too long, and to no other', async () => {
    const { begin, begun, endFirst } = workOn(new ConnectionShares({ places: 1, waitMs: 5 }))
    void begin('a')
    await expect(begin('b')).rejects.toThrow('timeout exceeded when trying to connect')
    await endFirst()
    void begin('c')
    expect(begun).toEqual(['a', 'c'])
  })
})
