import { Agent } from 'node:http'
import { expect, it } from 'vitest'
import { request } from '../../storage/client.ts'
import { holdFigure } from '../held-figure.ts'
import { mintTokens, openTenant, streamClients } from '../many-streams.ts'
import { COLLECTION, fill, makeText, startAlone } from '../memory/large-store.ts'
import { cpuMs, peakMb } from '../memory/process-figures.ts'
import { noteFigure } from '../noted-figure.ts'
import { slowestUntil } from './beside.ts'

const LIMIT_MB = 512
const agent = new Agent({ keepAlive: true })

const rest = { at: 'port', path: `/v1/collections/${COLLECTION}/changes` } as const
const input = encodeURIComponent(JSON.stringify({ collection: COLLECTION }))
const trpc = { at: 'internalPort', path: `/trpc/storage.watch?input=${input}` } as const

it.each([
  ['one-byte characters', 'x', rest],
  ['two-byte characters', 'я', rest],
  ['one-byte characters over tRPC', 'x', trpc],
])(
  '100 streams, half of them stalled, and a value of 9.9 MB of %s stay below 512 MB, and a neighbour waits less than 0.5 s',
  async (of, unit, { at, path }) => {
    const node = await startAlone()
    const [world, other] = [await openTenant(), await openTenant()]
    const tokens = await mintTokens(world, node, 100)
    const { start, report } = streamClients()
    start({ port: node[at], path, tokens, stalled: 50, events: 1 })
    await expect.poll(async () => (await report()).opened).toBe(100)
    const [writing, calling] = [await node.token(world), await node.token(other)]
    const body = `{"value":${makeText(unit, 9_900_000)}}`
    const began = performance.now()
    const put = request(node.port, 'PUT', `/storage/${COLLECTION}/k`, writing, { agent, body })
    const call = () => request(node.port, 'PUT', '/storage/small/k', calling, { agent, body: '{"value":1}' })
    const longest = Math.round(await slowestUntil(async () => (await report()).done === 50, node.pid, call))
    expect((await put)?.status).toBe(200)
    const seconds = (performance.now() - began) / 1_000
    const memory = await peakMb(node.pid)
    holdFigure(`100 streams, 9.9 MB of ${of}, memory`, memory, 'MB', LIMIT_MB)
    holdFigure(`100 streams, 9.9 MB of ${of}, neighbour`, longest, 'ms', 500)
    noteFigure({ name: `100 streams, 9.9 MB of ${of}, all readers`, value: seconds, unit: 's' })
  },
)

it('500 streams that come back at once to 1,000 entries of 10 kB stay below 512 MB, catch up in 30 s, and a neighbour waits less than 1 s', async () => {
  const node = await startAlone()
  const [world, other] = [await openTenant(), await openTenant()]
  await fill(world, 1_000, makeText('x', 10_000))
  const tokens = await mintTokens(world, node, 500)
  const calling = await node.token(other)
  const call = () => request(node.port, 'PUT', '/storage/small/k', calling, { agent, body: '{"value":1}' })
  expect((await call())?.status).toBe(200)
  const [began, used] = [performance.now(), await cpuMs(node.pid)]
  const { start, report } = streamClients()
  start({ port: node.port, path: rest.path, tokens, events: 1_000 })
  const areDone = async () => {
    const { done, refused } = await report()
    expect(refused).toBe(0)
    return done === 500
  }
  const longest = Math.round(await slowestUntil(areDone, node.pid, call))
  const seconds = (performance.now() - began) / 1_000
  const [memory, cpu] = [await peakMb(node.pid), ((await cpuMs(node.pid)) - used) / 1_000]
  holdFigure('500 streams at once, memory', memory, 'MB', LIMIT_MB)
  holdFigure('500 streams at once, neighbour', longest, 'ms', 1_000)
  holdFigure('500 streams at once, all caught up', seconds, 's', 30)
  noteFigure({ name: '500 streams at once, CPU', value: cpu, unit: 's' })
})
