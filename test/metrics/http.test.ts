import { describe, expect, it, onTestFinished } from 'vitest'
import { Connection } from '../raw/socket.ts'
import { startWorld } from '../support/world.ts'
import { parseSamples } from './samples.ts'

/** What no series may show, wherever a client sends it. */
const CANARY = 'canary4711'

async function world() {
  const started = await startWorld({ auth: {} })
  onTestFinished(() => started.close())
  const scrape = async () => (await started.internal('GET', '/metrics')).text
  return { ...started, scrape }
}

async function raw(port: number, request: string) {
  const connection = await Connection.open(port)
  await connection.send(request)
  await connection.answer()
  connection.reset()
}

const readCount = (text: string, operation: string, status: number) =>
  parseSamples(text).get(`http_request_duration_seconds_count{operation="${operation}",status="${status}"}`)

describe('/metrics', () => {
  it('is served in the format of Prometheus on the internal port, and not on the public one', async () => {
    const { internal, call } = await world()
    const { status, headers } = await internal('GET', '/metrics')
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
    expect(await internal('POST', '/metrics')).toMatchObject({ status: 405 })
    for (const host of ['apps.test', 'localhost', 'auth.test']) {
      expect(await call('GET', '/../metrics', { host })).toMatchObject({ status: 404 })
    }
  })

  it('is 404 for a name that a stranger could let resolve to this machine', async () => {
    const { internal } = await world()
    const status = async (host: string) => (await internal('GET', '/metrics', { headers: { host } })).status
    for (const host of ['evil.example', 'evil.example:3001', '127.0.0.1.evil.example', 'localhost.evil.example.']) {
      expect([host, await status(host)]).toEqual([host, 404])
    }
    for (const host of ['127.0.0.1:3001', '[::1]:3001', 'node-1', 'localhost:3001', 'api.apps.svc.cluster.local']) {
      expect([host, await status(host)]).toEqual([host, 200])
    }
  })

  it('counts each request once, by operation and status, over REST and tRPC', async () => {
    const { call, internal, token, scrape } = await world()
    await call('GET', '/me/profile')
    await call('GET', '/me/profile', { token: null })
    await call('HEAD', '/me/profile')
    await call('OPTIONS', '/me/profile')
    await call('POST', '/me/profile')
    await call('GET', '/storage/notes/none')
    await call('GET', '/nothing')
    await call('GET', '/openapi.json')
    await call('POST', '/oauth/token', { host: 'auth.test' })
    await call('GET', '/oauth/nothing', { host: 'auth.test' })
    const headers = { authorization: `Bearer ${await token()}` }
    const input = encodeURIComponent(JSON.stringify({ collection: 'notes', key: 'none' }))
    await internal('GET', `/trpc/storage.get?input=${input}`, { headers })
    await internal('GET', '/trpc/me.profile,me.groups?batch=1&input={}', { headers })
    await internal('GET', '/trpc/me.groups?batch=1&input={}', { headers })
    await internal('GET', '/trpc/nothing', { headers })
    await internal('GET', '/readyz')

    const text = await scrape()
    const counts = {
      'me.profile': { 200: 2, 401: 1 },
      preflight: { 204: 1 },
      'storage.get': { 404: 2 },
      openapi: { 200: 1 },
      'oauth.token': { 400: 1 },
      oauth: { 404: 1 },
      batch: { 200: 1 },
      'me.groups': { 200: 1 },
      other: { 404: 2, 405: 1 },
      health: { 200: 1 },
    }
    for (const [operation, byStatus] of Object.entries(counts)) {
      for (const [status, count] of Object.entries(byStatus)) {
        expect([operation, status, readCount(text, operation, Number(status))]).toEqual([operation, status, count])
      }
    }
    const series = [...parseSamples(text).keys()].filter((name) =>
      name.startsWith('http_request_duration_seconds_count'),
    )
    expect(series).toHaveLength(Object.values(counts).flatMap(Object.keys).length)
  })

  it('has no more series and none of their words, whatever strangers send', async () => {
    const { call, internal, token, ids, scrape, publicPort, internalPort } = await world()
    const bearer = await token()
    const headers = { authorization: `Bearer ${bearer}`, 'x-request-id': CANARY, traceparent: CANARY }
    const send = async (n: number) => {
      const word = `${CANARY}-${n}`
      await call('GET', `/storage/${word}/${word}?cursor=${word}`, { headers })
      await call('PUT', `/storage/notes/${word}`, { body: { value: word }, headers: { 'user-agent': word } })
      await call('GET', `/${word}?${word}`, { host: `${word}.test` })
      await call('GET', '/me/profile', { token: `${word}.${word}.${word}` })
      await call('GET', `/oauth/${word}`, { host: 'auth.test' })
      await call('POST', '/oauth/token', { host: 'auth.test', body: `client_id=${word}&code=${word}` })
      await internal('GET', `/trpc/${word}`, { headers })
      await internal('GET', `/trpc/${word},me.profile?batch=1`, { headers })
      await internal('GET', `/${word}`)
      await raw(publicPort, `PROPFIND /v1/me/profile HTTP/1.1\r\nHost: apps.test\r\nX-Word: ${word}\r\n\r\n`)
      await raw(publicPort, `${word.toUpperCase()} /v1/me/profile HTTP/1.1\r\nHost: apps.test\r\n\r\n`)
      await raw(internalPort, `PROPFIND /trpc/me.profile HTTP/1.1\r\nHost: ${word}\r\n\r\n`)
    }
    await send(0)
    await scrape()
    const before = await scrape()
    for (let n = 1; n < 4; n++) await send(n)
    const after = await scrape()
    expect([...parseSamples(after).keys()]).toEqual([...parseSamples(before).keys()])
    expect(parseSamples(after).size).toBeGreaterThan(50)
    const hidden = [CANARY, CANARY.toUpperCase(), bearer.split('.')[2]!, ...Object.values(ids)]
    for (const word of hidden) expect(after).not.toContain(word)
  })

  it('counts requests in flight, also those whose client leaves', async () => {
    const { scrape, publicPort, token } = await world()
    const inFlight = async () => parseSamples(await scrape()).get('http_requests_in_flight')
    // The scrape itself.
    expect(await inFlight()).toBe(1)
    const head = `PUT /v1/storage/notes/slow HTTP/1.1\r\nHost: apps.test\r\nAuthorization: Bearer ${await token()}\r\n`
    const connection = await Connection.open(publicPort)
    await connection.send(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`)
    await expect.poll(inFlight).toBe(2)
    connection.reset()
    await expect.poll(inFlight).toBe(1)
  })

  it('has the time that a request took', async () => {
    const { call, scrape } = await world()
    await call('GET', '/me/profile')
    const sum = parseSamples(await scrape()).get(
      'http_request_duration_seconds_sum{operation="me.profile",status="200"}',
    )!
    expect(sum).toBeGreaterThan(0.000_1)
    expect(sum).toBeLessThan(60)
  })
})
