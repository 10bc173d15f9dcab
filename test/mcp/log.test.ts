import { expect, it } from 'vitest'
import { useWorld } from '../support/started.ts'
import { post, toolCall } from './assistant.ts'

const lines: { operation?: string; path: string; status: number; method: string }[] = []
const world = useWorld({ onLog: (line) => lines.push(JSON.parse(line)) })

it('counts and logs a call as that of its endpoint, with the status that it has over REST', async () => {
  const { db, ids } = world
  const left = async (name: string, given: object) => {
    const { headers } = await post(world, toolCall(name, given))
    return Number(/r=(\d+)/.exec(String(headers.ratelimit))![1])
  }
  const first = await left('storagePut', { collection: 'c', key: 'k', value: 1 })
  expect(await left('storageGet', { collection: 'c', key: 'none' })).toBe(first - 1)
  await post(world, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  expect(await left('storageRulesPut', {})).toBe(first - 3)

  await world.requestLog.flush()
  const teamId = ids.team
  const select = { method: true, route: true, status: true }
  const success = { method: 'PUT', route: '/storage/{collection}/{key}', status: 200 }
  expect(await db.answeredRequest.findMany({ where: { teamId }, select })).toEqual([success])
  const refusal = { method: 'GET', route: '/storage/{collection}/{key}', status: 404, error: 'keyUnknown' }
  expect(await db.refusedRequest.findMany({ where: { teamId }, select: { ...select, error: true } })).toEqual([refusal])
  expect(lines.map(({ method, path, status }) => [method, path, status])).toEqual(
    [200, 404, 200, 200].map((status) => ['POST', '/v1/mcp', status]),
  )
  const metrics = await world.internal('GET', '/metrics', { headers: { host: 'localhost' } })
  for (const labels of ['"storage.put",status="200"', '"storage.get",status="404"', '"mcp",status="200"']) {
    expect(metrics.text).toContain(`http_request_duration_seconds_count{operation=${labels}}`)
  }
})

it('returns 429 with Retry-After before the body is read once the quota is used up', async () => {
  const { db, ids } = world
  await db.team.update({ where: { id: ids.team }, data: { level: 'hobby' } })
  world.advance(120)
  const call = () => post(world, toolCall('root'))
  for (let i = 0; i < 60; i++) await call()
  const refused = await call()
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
  expect(refused.headers).toHaveProperty('retry-after')
})
