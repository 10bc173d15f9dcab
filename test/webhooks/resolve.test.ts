import { describe, expect, it } from 'vitest'
import { createResolve } from '../../server/webhooks/send/resolve.ts'
import type { Records } from './name-server.ts'
import { startNameServer } from './name-server.ts'
import { ending } from './sending.ts'

/** A question is never asked twice because the machine is busy. */
const patient = { queryMs: 60_000, totalMs: 100_000 }

type Answers = Record<string, Records>

/** What the name server answers, and what the system's own lookup does; what either was asked. */
async function naming(records: Answers, system: Record<string, string[]> = {}) {
  const server = ending(await startNameServer((name, type) => records[`${type} ${name}`] ?? 'no such name'))
  const lookedUp: string[] = []
  const lookup = async (name: string) => {
    lookedUp.push(name)
    const found = system[name]
    if (!found) throw Object.assign(new Error('unknown'), { code: 'ENOTFOUND' })
    return found.map((address) => ({ address, family: 4 }))
  }
  const resolve = createResolve({ servers: [server.address], lookup, ...patient })
  return { server, lookedUp, lookup, resolve }
}

describe('a name', () => {
  it('has all its addresses of both kinds', async () => {
    const { resolve, lookedUp } = await naming({
      'A two.example': ['192.0.2.1', '192.0.2.2'],
      'AAAA two.example': ['2001:db8::1', '::1'],
      'A four.example': ['192.0.2.4'],
      'AAAA four.example': [],
      'AAAA six.example': ['2001:db8::6'],
      'A six.example': [],
    })
    expect(await resolve('two.example')).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::1', '::1'])
    expect(await resolve('four.example')).toEqual(['192.0.2.4'])
    expect(await resolve('six.example')).toEqual(['2001:db8::6'])
    expect(lookedUp).toEqual([])
  })

  it.each(['silence', 'failure'] as const)('has those of one kind where the other is met with %s', async (other) => {
    const { resolve, server } = await naming({ 'A half.example': ['192.0.2.1'], 'AAAA half.example': other })
    expect(await resolve('half.example')).toEqual(['192.0.2.1'])
    // It was not waited for until it would have been asked again.
    expect(server.asked.toSorted()).toEqual(['A half.example', 'AAAA half.example'])
  })

  it('is asked for once, however many want it, and again when that failed', async () => {
    const records: Answers = { 'A one.example': ['192.0.2.1'], 'AAAA one.example': [] }
    const { resolve, server } = await naming(records)
    await Promise.all(Array.from({ length: 20 }, () => resolve('one.example')))
    records['A one.example'] = ['127.0.0.1']
    expect(await resolve('one.example')).toEqual(['192.0.2.1'])
    expect(server.asked.toSorted()).toEqual(['A one.example', 'AAAA one.example'])

    await expect(resolve('later.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    records['A later.example'] = ['192.0.2.7']
    records['AAAA later.example'] = []
    expect(await resolve('later.example')).toEqual(['192.0.2.7'])
  })

  it('that the servers do not know may be known to the system', async () => {
    const { resolve, lookedUp } = await naming(
      { 'A none.example': [], 'AAAA none.example': [] },
      { inner: ['10.0.0.1'] },
    )
    expect(await resolve('inner')).toEqual(['10.0.0.1'])
    await expect(resolve('none.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolve('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(lookedUp).toEqual(['inner', 'none.example', 'nowhere.example'])
  })

  it('is left to the system where no server is to be had', async () => {
    const { lookup } = await naming({}, { 'a.example': ['192.0.2.1'] })
    const server = await startNameServer(() => 'silence')
    await server.close()
    const resolve = createResolve({ servers: [server.address], lookup })
    expect(await resolve('a.example')).toEqual(['192.0.2.1'])
  })

  it('whose servers fail is not asked of the system, which would wait for them in a thread', async () => {
    const { resolve, lookedUp } = await naming({ 'A bad.example': 'failure', 'AAAA bad.example': 'failure' })
    await expect(resolve('bad.example')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    expect(lookedUp).toEqual([])
  })

  it('whose servers are dead delays no other name', async () => {
    const dead = Array.from({ length: 50 }, (_, n) => `dead${n}.example`)
    const { resolve, lookedUp } = await naming({
      'A live.example': ['192.0.2.1'],
      'AAAA live.example': [],
      ...Object.fromEntries(dead.flatMap((name) => [`A ${name}`, `AAAA ${name}`]).map((key) => [key, 'silence'])),
    })
    let ended = 0
    const count = () => void ended++
    for (const name of dead) resolve(name).then(count, count)
    expect(await resolve('live.example')).toEqual(['192.0.2.1'])
    expect(ended).toBe(0)
    expect(lookedUp).toEqual([])
  })

  it('whose servers are dead is given up, and not asked of the system', async () => {
    const { server, lookup, lookedUp } = await naming({ 'A dead.example': 'silence', 'AAAA dead.example': 'silence' })
    const resolve = createResolve({ servers: [server.address], lookup, queryMs: 60_000, totalMs: 500 })
    const error = await resolve('dead.example').catch((error) => error)
    expect(error.code).toMatch(/^E(?:TIMEOUT|CANCELLED)$/)
    expect(server.asked.toSorted()).toEqual(['A dead.example', 'AAAA dead.example'])
    expect(lookedUp).toEqual([])
  })

  it('that the system is slow with lets one other wait at a time, and not for long', async () => {
    const { server } = await naming({})
    const release: (() => void)[] = []
    const lookup = (name: string) =>
      new Promise<{ address: string; family: number }[]>((found) => {
        release.push(() => found([{ address: `192.0.2.${name.length}`, family: 4 }]))
      })
    const resolve = createResolve({ servers: [server.address], lookup, totalMs: 3_000 })
    const first = resolve('a')
    await expect.poll(() => release.length, { timeout: 10_000 }).toBe(1)
    await expect(resolve('bb')).rejects.toMatchObject({ code: 'ETIMEOUT' })
    expect(release).toHaveLength(1)
    release[0]!()
    expect(await first).toEqual(['192.0.2.1'])
  })

  it.each(['localhost', 'localhost.', 'LOCALHOST', 'app.localhost', 'a.b.localhost.'])(
    'of this machine is asked of nobody: %s',
    async (name) => {
      const { resolve, server, lookedUp } = await naming({ [`A ${name}`]: ['8.8.8.8'] })
      expect(await resolve(name)).toEqual(['127.0.0.1'])
      expect([...server.asked, ...lookedUp]).toEqual([])
    },
  )
})
