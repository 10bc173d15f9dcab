import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LARGE_BYTES } from '../../../routers/kernel/read-within.ts'
import { statements } from '../../../routers/storage/statements.ts'
import { request } from '../../storage/client.ts'
import { times } from '../../support/rounds.ts'
import { useWorld } from '../../support/started.ts'
import { holdFigure } from '../held-figure.ts'
import { download, sha256 } from './download.ts'
import { COLLECTION, fill, pageOf, QUOTA, startAlone, textOf } from './large-store.ts'
import { cpuMs, median, peakMb, tellsFigures } from './process-figures.ts'

const LIMIT_MB = 512
const LISTS = 20
const LIST = `/storage/${COLLECTION}?limit=200`
const SMALL = '/storage/small/k'

const [world, other] = [useWorld(), useWorld()]
const agent = new Agent({ keepAlive: true })
beforeAll(() => other.call('PUT', SMALL, { body: { value: 'small' } }))
afterAll(() => agent.destroy())

/** Bytes of each value when `entries` values fill the quota. */
const share = (entries: number) => Math.floor(QUOTA / entries)
const mixed = (bytes: number) => `"漢${textOf('a', bytes - 3).slice(1)}`
const stores: Record<string, { entries: number; value: string }> = {
  // V8 stores such a string with two bytes a character.
  '200 entries of ASCII but for one character': { entries: 200, value: mixed(share(200)) },
  '200 entries of ASCII': { entries: 200, value: textOf('a', share(200)) },
  '200 entries of three-byte characters': { entries: 200, value: textOf('漢', share(200)) },
  'one entry of ASCII but for one character': { entries: 1, value: mixed(QUOTA) },
  'one entry of ASCII': { entries: 1, value: textOf('a', QUOTA) },
}
/** A short run takes the store whose pages need the most memory. */
const measured = Object.keys(stores).slice(0, times(5, 1))

// Only Linux reports the memory of another process, in /proc.
const skipped = tellsFigures ? '' : ' (skipped: there is no /proc)'

describe.skipIf(!tellsFigures)(`${LISTS} lists of 10 MB at once take less than ${LIMIT_MB} MB${skipped}`, () => {
  const begin = async (name: string) => {
    const { entries, value } = stores[name]!
    await fill(world, entries, value)
    const page = pageOf(entries, value, { limit: 200, offset: 0 })
    const whole = sha256(page)
    const service = await startAlone()
    const [token, otherToken] = await Promise.all([service.token(world), service.token(other)])
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

  it.each(measured)('%s, and other requests are answered meanwhile', { timeout: 120_000 }, async (name) => {
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
  const value = textOf('a', share(entries))

  it('cost up to twice as much on the last page as on the first', {
    timeout: 120_000,
  }, async () => {
    await fill(world, entries, value)
    const { port, pid, token } = await startAlone()
    const bearer = await token(world)
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
          expect(reply!.text === pageOf(entries, value, { limit, offset })).toBe(true)
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
    const values = [world.ids.app, world.ids.club, '', COLLECTION, limit, offset, LARGE_BYTES]
    const [row] = await world.db.$queryRawUnsafe<[Record<string, [Record<string, number>]>]>(explain, ...values)
    return row['QUERY PLAN']![0]['Execution Time']!
  }
})
