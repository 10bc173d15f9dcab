import { describe, expect, it } from 'vitest'
import { send } from '../support/request.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld({ auth: {} })

/** Quadratic for negotiator: 15 KB of it stopped the process for 0.4 s. */
const costly = `a/b;x="${'"",,'.repeat(3_700)}"`
const padded = (wanted: string, length: number) => `${wanted}, x${'-x'.repeat((length - wanted.length - 3) / 2)}`

/** Status, and a header of the response, for a request with these headers. */
const answerTo = (host: string, path: string, headers: Record<string, string>) =>
  send(world.publicPort, 'GET', path, { headers: { host, ...headers } })

describe('a negotiated header of more than 1,024 bytes', () => {
  it('Accept, counts as absent: the answer is no stream', async () => {
    const path = '/v1/collections/c/changes'
    const authorization = `Bearer ${await world.token({ organisation: world.ids.club })}`
    for (const accept of [costly, padded('text/event-stream', 1_026)]) {
      const reply = await answerTo('sync.test', path, { authorization, accept })
      expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    }
  })

  it('Accept-Language, counts as absent: the page is in English', async () => {
    const page = (value: string) =>
      answerTo('auth.test', '/v1/oauth/connected', { accept: 'text/html', 'accept-language': value })
    expect((await page(padded('de', 1_024))).text).toContain('<html lang="de"')
    expect((await page(padded('de', 1_026))).text).toContain('<html lang="en"')
    expect((await page(costly)).text).toContain('<html lang="en"')
  })

  it('Accept-Encoding, counts as absent: the answer is not compressed', async () => {
    const document = (value: string) => answerTo('apps.test', '/v1/docs/style.css', { 'accept-encoding': value })
    expect((await document(padded('gzip', 1_024))).headers['content-encoding']).toBe('gzip')
    expect((await document(padded('gzip', 1_026))).headers['content-encoding']).toBeUndefined()
  })

  it.each(['accept', 'accept-language', 'accept-encoding', 'accept-charset'])(
    '%s, changes no answer of the authorization server and of the internal port',
    async (name) => {
      const query = 'client_id=unknown&redirect_uri=http://localhost/&response_type=code'
      const plain = await answerTo('auth.test', `/v1/oauth/authorize?${query}`, {})
      const long = await answerTo('auth.test', `/v1/oauth/authorize?${query}`, { [name]: costly })
      expect(long.status).toBe(plain.status)
      const health = await world.internal('GET', '/healthz', { headers: { [name]: costly } })
      expect(health.status).toBe(200)
    },
  )
})
