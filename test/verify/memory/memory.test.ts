import { fork } from 'node:child_process'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { request } from '../../storage/client.ts'
import { useWorld } from '../../support/started.ts'
import { holdFigure } from '../held-figure.ts'
import { fill, startAlone, textOf } from './large-store.ts'
import { delayedMs, peakMb, tellsFigures } from './process-figures.ts'

const LIMIT_MB = 512
const LIMIT_MS = 250
const SMALL = '/storage/small/k'
const LARGE = '/storage/large/k'

const [loud, quiet] = [useWorld(), useWorld()]
const agent = new Agent({ keepAlive: true })
beforeAll(async () => {
  await fill(loud, 1, textOf('a', 9_000_000))
  await quiet.call('PUT', SMALL, { body: { value: 'small' } })
})
afterAll(() => agent.destroy())

/** Runs clients of one team in a process of their own, and small requests of another team until they are done. */
async function measure(kind: string, count: number) {
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

  const task = JSON.stringify({ kind, count, port: service.port, internalPort: service.internalPort, token })
  const clients = fork(new URL('large-clients.ts', import.meta.url), [task], { execArgv: ['--import', 'tsx'] })
  let outcomes: Record<string, number> | undefined
  clients.once('message', (counts) => {
    outcomes = counts as Record<string, number>
  })
  const value = textOf('b', 5_000_000)
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
  it.each([
    ['puts', 200, ['200', '503']],
    ['puts over tRPC', 200, ['200', '503']],
    ['uploads that stop', 60, ['408', '503']],
    ['slow readers', 40, ['503', 'left']],
  ])('%s: %i of one team', { timeout: 240_000 }, async (kind, count, outcomes) => {
    const figures = await measure(kind, count)
    holdFigure(`${kind}, peak`, figures.peakMb, 'MB', LIMIT_MB)
    holdFigure(`${kind}, slowest`, figures.slowestOwnMs, 'ms', LIMIT_MS)
    expect.soft(outcomes).toEqual(expect.arrayContaining(Object.keys(figures.outcomes)))
    expect.soft(figures.statuses).toEqual([200])
    expect.soft(figures.largeStatuses).toEqual([200, 200])
  })
})
