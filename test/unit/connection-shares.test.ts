import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { ConnectionShares } from '../../prisma/pg/connection-shares.ts'
import type { Connected } from '../../prisma/pg/observed-pool.ts'

const NEVER = 2 ** 31 - 1

/** Uses of a pool of 4 or as many connections, each of which goes on until it is ended, in the order in which they began. */
function openShares(places = 4, waitMs = NEVER) {
  const connections = {
    waitingCount: 0,
    visits: 0,
    connect(callback: Connected) {
      connections.visits++
      callback(undefined, {} as pg.PoolClient, () => {})
    },
  }
  const shares = new ConnectionShares(connections, { places, waitMs })
  const begun: string[] = []
  const ends: ((error?: Error) => void)[] = []
  const begin = (team: string) =>
    new Promise<void>((resolve, reject) => {
      shares.connect(team, (failure, _, release) => {
        if (failure) return reject(failure)
        begun.push(team)
        ends.push(release)
        resolve()
      })
    })
  const endFirst = (error?: Error) => ends.shift()!(error)
  return { begun, begin, endFirst, connections }
}

describe('the connections of a pool', () => {
  it('are all for one team while no other waits', () => {
    const { begun, begin } = openShares()
    for (let i = 0; i < 6; i++) void begin('a')
    expect(begun).toEqual(['a', 'a', 'a', 'a'])
  })

  it('go to a team that waits until it has its half, then to the longest waiting', () => {
    const { begun, begin, endFirst } = openShares()
    for (let i = 0; i < 8; i++) void begin('a')
    for (let i = 0; i < 4; i++) void begin('b')
    for (let i = 0; i < 4; i++) endFirst()
    expect(begun.slice(4)).toEqual(['b', 'b', 'a', 'a'])
  })

  it('go to waiting teams one after the other', () => {
    const { begun, begin, endFirst } = openShares()
    for (let i = 0; i < 4; i++) void begin('a')
    for (const team of ['b', 'b', 'c', 'c', 'd']) void begin(team)
    for (let i = 0; i < 4; i++) endFirst()
    expect(begun.slice(4)).toEqual(['b', 'c', 'd', 'b'])
  })

  it('go to the next who waits without a visit to the pool, unless others wait there', () => {
    const { begun, begin, endFirst, connections } = openShares(1)
    for (const team of ['a', 'b', 'c']) void begin(team)
    endFirst()
    expect([begun, connections.visits]).toEqual([['a', 'b'], 1])
    connections.waitingCount = 1
    endFirst()
    expect([begun, connections.visits]).toEqual([['a', 'b', 'c'], 2])
  })

  it('are not used again after an error', () => {
    const { begun, begin, endFirst, connections } = openShares(1)
    for (const team of ['a', 'b']) void begin(team)
    endFirst(new Error('lost'))
    expect([begun, connections.visits]).toEqual([['a', 'b'], 2])
  })

  it('are refused to one that has waited too long, and to no other', async () => {
    const { begin, begun, endFirst } = openShares(1, 5)
    void begin('a')
    await expect(begin('b')).rejects.toThrow('timeout exceeded when trying to connect')
    endFirst()
    void begin('c')
    expect(begun).toEqual(['a', 'c'])
  })

  it('go to all that wait where the pool refuses each', async () => {
    const { begin, endFirst, connections } = openShares(1)
    void begin('a')
    connections.connect = (callback) => callback(new Error('ended'), undefined, () => {})
    const waiting = Array.from({ length: 20_000 }, () => begin('b').catch(({ message }: Error) => message))
    endFirst(new Error('lost'))
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['ended']))
  })

  it('are free again after the pool has thrown', async () => {
    const { begin, begun, connections } = openShares(1)
    const { connect } = connections
    connections.connect = () => {
      throw new Error('no such file')
    }
    await expect(begin('a')).rejects.toThrow('no such file')
    connections.connect = connect
    void begin('b')
    expect(begun).toEqual(['b'])
  })
})
