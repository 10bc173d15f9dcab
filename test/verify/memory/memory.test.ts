import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request as open } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LARGE_BYTES } from '../../../routers/kernel/read-within.ts'
import { statements } from '../../../routers/storage/statements.ts'
import { request } from '../../storage/client.ts'
import { times } from '../../support/rounds.ts'
import { useWorld } from '../../support/started.ts'
import { holdFigure } from '../held-figure.ts'
import type { Task } from '../loud-clients.ts'
import { COLLECTION, fill, makePage, makeText, QUOTA, startAlone } from './large-store.ts'
import { cpuMs, delayedMs, median, peakMb, tellsFigures } from './process-figures.ts'

const LIMIT_MB = 512
const LIMIT_MS = 250
const SMALL = '/storage/small/k'
const LARGE = '/storage/large/k'

const [loud, quiet] = [useWorld(), useWorld()]
const agent = new Agent({ keepAlive: true })
beforeAll(() => quiet.call('PUT', SMALL, { body: { value: 'small' } }))
afterAll(() => agent.destroy())

/** Runs clients of one team in a process of their own, and small requests of another team until they are done. */
async function measure(kind: Task['kind'], count: number) {
  const service = await startAlone()
  const [token, quietToken] = await Promise.all([service.token(loud), service.token(quiet)])
  const small = async () => {
    const [start, delayed] = [performance.now(), delayedMs(service.pid)]
    const { status } = (await request(service.port, 'GET', SMALL, quietToken, { agent }))!
    const ms = performance.now() - start
    return { status, ms, ownMs: ms - (delayedMs(service.pid) - delayed) }
  }
  // The first ones connect and compile.
  for (let i = 0; i < 50; i++) await small()

  const { port, internalPort } = service
  const task = JSON.stringify({ kind, count, port, internalPort, token, readingMs: 35_000 } satisfies Task)
  const clients = fork(new URL('../loud-clients.ts', import.meta.url), [task], { execArgv: ['--import', 'tsx'] })
  await once(clients, 'message')
  clients.send('once')
  let outcomes: Record<string, number> | undefined
  clients.once('message', (counts) => {
    outcomes = counts as Record<string, number>
    clients.kill()
  })
  const value = makeText('b', 5_000_000)
  const large = async () => {
    await sleep(2_000)
    const put = await request(service.port, 'PUT', LARGE, quietToken, { agent, body: `{"value":${value}}` })
    const got = await request(service.port, 'GET', LARGE, quietToken, { agent })
    return [put!.status, got!.status]
  }
  const largeStatuses = large()
  const smalls: Awaited<ReturnType<typeof small>>[] = []
  while (!outcomes) {
    smalls.push(await small())
    await sleep(15)
  }
  return {
    outcomes,
    peakMb: await peakMb(service.pid),
    statuses: [...new Set(smalls.map(({ status }) => status))],
    largeStatuses: await largeStatuses,
    requests: smalls.length,
    slowestMs: Math.max(...smalls.map(({ ms }) => ms)),
    slowestOwnMs: Math.max(...smalls.map(({ ownMs }) => ownMs)),
  }
}

describe.skipIf(!tellsFigures)(`under ${LIMIT_MB} MB, and other teams are answered within ${LIMIT_MS} ms`, () => {
  beforeAll(() => fill(loud, 1, makeText('a', 9_000_000)))

  it.each([
    ['puts', 200, ['200', '503']],
    ['puts over tRPC', 200, ['200', '503']],
    ['uploads that stop', 60, ['408', '503']],
    ['slow readers', 40, ['503', 'left']],
  ] satisfies [Task['kind'], number, string[]][])('%s: %i of one team', async (kind, count, outcomes) => {
    const figures = await measure(kind, count)
    holdFigure(`${kind}, peak`, figures.peakMb, 'MB', LIMIT_MB)
    holdFigure(`${kind}, slowest`, figures.slowestOwnMs, 'ms', LIMIT_MS)
    expect.soft(outcomes).toEqual(expect.arrayContaining(Object.keys(figures.outcomes)))
    expect.soft(figures.statuses).toEqual([200])
    expect.soft(figures.largeStatuses).toEqual([200, 200])
  })
})

const LISTS = 20
const LIST = `/storage/${COLLECTION}?limit=200`

/** Bytes of each value when `entries` values fill the quota. */
const share = (entries: number) => Math.floor(QUOTA / entries)
const mixed = (bytes: number) => `"漢${makeText('a', bytes - 3).slice(1)}`
const stores: Record<string, { entries: number; value: string }> = {
  // V8 stores such a string with two bytes a character.
  '200 entries of ASCII but for one character': { entries: 200, value: mixed(share(200)) },
  '200 entries of ASCII': { entries: 200, value: makeText('a', share(200)) },
  '200 entries of three-byte characters': { entries: 200, value: makeText('漢', share(200)) },
  'one entry of ASCII but for one character': { entries: 1, value: mixed(QUOTA) },
  'one entry of ASCII': { entries: 1, value: makeText('a', QUOTA) },
}
/** A short run takes the store whose pages need the most memory. */
const measured = Object.keys(stores).slice(0, times(5, 1))

// Only Linux reports the memory of another process, in /proc.
const skipped = tellsFigures ? '' : ' (skipped: there is no /proc)'

describe.skipIf(!tellsFigures)(`${LISTS} lists of 10 MB at once take less than ${LIMIT_MB} MB${skipped}`, () => {
  const begin = async (name: string) => {
    const { entries, value } = stores[name]!
    await fill(loud, entries, value)
    const page = makePage(entries, value, { limit: 200, offset: 0 })
    const whole = sha256(page)
    const service = await startAlone()
    const [token, otherToken] = await Promise.all([service.token(loud), service.token(quiet)])
    const small = async () => (await request(service.port, 'GET', SMALL, otherToken, { agent }))!.status
    // The first request connects.
    expect(await small()).toBe(200)
    const list = async () => {
      const { status, bytes, sha256 } = await download(service.port, LIST, token)
      return status === 200 && sha256 === whole ? 'whole' : `${status} with ${bytes} bytes`
    }
    const lists = () => Promise.all(Array.from({ length: LISTS }, list))
    return { pid: service.pid, small, lists }
  }
  const expectWhole = async (name: string, pid: number, answers: string[]) => {
    expect.soft(answers.filter((answer) => answer !== 'whole')).toEqual([])
    const peak = await peakMb(pid)
    holdFigure(name, peak, 'MB', LIMIT_MB)
  }

  it.each(measured)('%s, and other requests are answered meanwhile', async (name) => {
    const { pid, small, lists } = await begin(name)
    let isDone = false
    const answers = lists().finally(() => {
      isDone = true
    })
    const statuses: number[] = []
    while (!isDone) {
      statuses.push(await small())
      await sleep(10)
    }
    await expectWhole(name, pid, await answers)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(statuses.length).toBeGreaterThan(1)
  })
})

describe.skipIf(!tellsFigures)(`10,000 entries${skipped}`, () => {
  const entries = 10_000
  const value = makeText('a', share(entries))

  it('cost up to twice as much on the last page as on the first', async () => {
    await fill(loud, entries, value)
    const { port, pid, token } = await startAlone()
    const bearer = await token(loud)
    const ratio = ([a, b]: number[][]) => Math.max(median(a!), median(b!)) / Math.min(median(a!), median(b!))
    for (const limit of [200, 50]) {
      const service: number[][] = [[], []]
      const database: number[][] = [[], []]
      for (let run = 0; run < times(60, 15); run++) {
        for (const [i, offset] of [0, entries - limit].entries()) {
          const path = `/storage/${COLLECTION}?limit=${limit}&offset=${offset}`
          const before = await cpuMs(pid)
          const reply = await request(port, 'GET', path, bearer, { agent })
          service[i]!.push((await cpuMs(pid)) - before)
          database[i]!.push(await executionMs(limit, offset))
          expect(reply!.text === makePage(entries, value, { limit, offset })).toBe(true)
        }
      }
      for (const [of, costs] of Object.entries({ service, database })) {
        holdFigure(`last page of ${limit}, ${of}`, ratio(costs), '×', 2)
      }
    }
  })

  const explain = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${statements.list.text}`

  /** PostgreSQL's own figure for the list statement. */
  async function executionMs(limit: number, offset: number): Promise<number> {
    const values = [loud.ids.app, loud.ids.club, '', COLLECTION, limit, offset, LARGE_BYTES]
    const [row] = await loud.db.$queryRawUnsafe<[Record<string, [Record<string, number>]>]>(explain, ...values)
    return row['QUERY PLAN']![0]['Execution Time']!
  }
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** Requests `path` on a connection of its own; keeps only size and hash. */
function download(port: number, path: string, token: string) {
  return new Promise<{ status: number; bytes: number; sha256: string }>((resolve, reject) => {
    const headers = { host: 'apps.localhost', authorization: `Bearer ${token}` }
    const sent = open({ host: '127.0.0.1', port, path: `/v1${path}`, headers, agent: false })
    sent.on('error', reject).on('response', (response) => {
      const hash = createHash('sha256')
      let bytes = 0
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode!, bytes, sha256: hash.digest('hex') }))
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        hash.update(chunk)
      })
    })
    sent.end()
  })
}
