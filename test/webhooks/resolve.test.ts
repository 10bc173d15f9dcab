import { describe, expect, it } from 'vitest'
import { createResolve } from '../../server/webhooks/send/resolve.ts'
import type { Records } from './name-server.ts'
import { startNameServer } from './name-server.ts'
import { ending } from './sending.ts'

/** No query is repeated just because the machine is busy. */
const patient = { queryMs: 60_000, totalMs: 100_000 }

type Answers = Record<string, Records>

/** A resolver with a name server and a system lookup of its own, which both record what they were asked. */
async function startNaming(records: Answers, system: Record<string, string[]> = {}) {
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
  it('resolves to all its IPv4 and IPv6 addresses', async () => {
    const { resolve, lookedUp } = await startNaming({
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

  it.each(['silence', 'failure'] as const)(
    'resolves to its IPv4 addresses when the IPv6 query ends in %s',
    async (other) => {
      const { resolve, server } = await startNaming({ 'A half.example': ['192.0.2.1'], 'AAAA half.example': other })
      expect(await resolve('half.example')).toEqual(['192.0.2.1'])
      // Asked once each: it did not wait for a second query.
      expect(server.asked.toSorted()).toEqual(['A half.example', 'AAAA half.example'])
    },
  )

  it('is queried once for concurrent callers, and again after a failure', async () => {
    const records: Answers = { 'A one.example': ['192.0.2.1'], 'AAAA one.example': [] }
    const { resolve, server } = await startNaming(records)
    await Promise.all(Array.from({ length: 20 }, () => resolve('one.example')))
    records['A one.example'] = ['127.0.0.1']
    expect(await resolve('one.example')).toEqual(['192.0.2.1'])
    expect(server.asked.toSorted()).toEqual(['A one.example', 'AAAA one.example'])

    await expect(resolve('later.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    records['A later.example'] = ['192.0.2.7']
    records['AAAA later.example'] = []
    expect(await resolve('later.example')).toEqual(['192.0.2.7'])
  })

  it('is looked up by the system when the servers do not know it', async () => {
    const { resolve, lookedUp } = await startNaming(
      { 'A none.example': [], 'AAAA none.example': [] },
      { inner: ['10.0.0.1'] },
    )
    expect(await resolve('inner')).toEqual(['10.0.0.1'])
    await expect(resolve('none.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(resolve('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
    expect(lookedUp).toEqual(['inner', 'none.example', 'nowhere.example'])
  })

  it('is looked up by the system when no server can be reached', async () => {
    const { lookup } = await startNaming({}, { 'a.example': ['192.0.2.1'] })
    const server = await startNameServer(() => 'silence')
    await server.close()
    const resolve = createResolve({ servers: [server.address], lookup })
    expect(await resolve('a.example')).toEqual(['192.0.2.1'])
  })

  it('is not looked up by the system when its servers fail, as that would block a thread', async () => {
    const { resolve, lookedUp } = await startNaming({ 'A bad.example': 'failure', 'AAAA bad.example': 'failure' })
    await expect(resolve('bad.example')).rejects.toMatchObject({ code: 'ESERVFAIL' })
    expect(lookedUp).toEqual([])
  })

  it('delays no other name when its servers are dead', async () => {
    const dead = Array.from({ length: 50 }, (_, n) => `dead${n}.example`)
    const { resolve, lookedUp } = await startNaming({
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

  it('times out when its servers are dead, without a system lookup', async () => {
    const { server, lookup, lookedUp } = await startNaming({
      'A dead.example': 'silence',
      'AAAA dead.example': 'silence',
    })
    const resolve = createResolve({ servers: [server.address], lookup, queryMs: 60_000, totalMs: 500 })
    const error = await resolve('dead.example').catch((error) => error)
    expect(error.code).toMatch(/^E(?:TIMEOUT|CANCELLED)$/)
    expect(server.asked.toSorted()).toEqual(['A dead.example', 'AAAA dead.example'])
    expect(lookedUp).toEqual([])
  })

  it('times out while the system looks up another name', async () => {
    const { server } = await startNaming({})
    const release: (() => void)[] = []
    const lookup = (name: string) =>
      new Promise<{ address: string; family: number }[]>((found) => {
        release.push(() => found([{ address: `192.0.2.${name.length}`, family: 4 }]))
      })
    const resolve = createResolve({ servers: [server.address], lookup, totalMs: 1_000 })
    const first = resolve('a')
    await expect.poll(() => release.length).toBe(1)
    await expect(resolve('bb')).rejects.toMatchObject({ code: 'ETIMEOUT' })
    expect(release).toHaveLength(1)
    release[0]!()
    expect(await first).toEqual(['192.0.2.1'])
  })

  it.each(['localhost', 'localhost.', 'LOCALHOST', 'app.localhost', 'a.b.localhost.'])(
    'resolves to 127.0.0.1 without any query: %s',
    async (name) => {
      const { resolve, server, lookedUp } = await startNaming({ [`A ${name}`]: ['8.8.8.8'] })
      expect(await resolve(name)).toEqual(['127.0.0.1'])
      expect([...server.asked, ...lookedUp]).toEqual([])
    },
  )
})
