import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { createServer } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../../process/service.ts'
import { send } from '../../process/service.ts'
import { Connection } from '../../raw/socket.ts'
import { startedTogether } from '../at-end.ts'
import { demoToken } from '../demo.ts'
import { startNginx } from './nginx.ts'
import { lacking } from './program.ts'
import { missingPrograms, startFaultyTopology } from './start.ts'

const missing = [...missingPrograms(), ...lacking('nginx')]

interface Ask {
  method: string
  path: string
  host: string
  form?: string | undefined
}

const form = 'grant_type=refresh_token&client_id=planner-web&refresh_token=unknown'
const request = (method: string, name: string, path: string, form?: string): Ask => ({
  method,
  host: `${name}.localhost`,
  path,
  form,
})
/** A request of each kind that cannot be answered without the database. */
const asks: Record<string, Ask> = {
  apps: request('GET', 'apps', '/v1/me/profile'),
  lms: request('POST', 'lms', '/v1/quizzes/first/results'),
  notify: request('DELETE', 'notify', '/v1/apps/planner/webhook'),
  token: request('POST', 'auth', '/v1/oauth/token', form),
  'token at the apps host': request('POST', 'apps', '/v1/oauth/token', form),
  revocation: request('POST', 'auth', '/v1/oauth/revoke', 'client_id=planner-web&token=t'),
  'device authorization': request('POST', 'auth', '/v1/oauth/device/auth', 'client_id=planner-web'),
}
/** Takes other tokens than those here. */
const userinfo = request('GET', 'auth', '/v1/oauth/userinfo')
const page = request('GET', 'auth', '/v1/oauth/authorize?client_id=planner-web')
const trpc: Ask = { method: 'GET', host: 'localhost', path: '/trpc/me.profile' }

/** Differ from one answer to the next, or are of the connection. */
const PASSING = ['connection', 'content-length', 'date', 'keep-alive', 'server', 'transfer-encoding']

/** What an app sees of an answer, with its request id by name. Whether it may be kept is another matter for each. */
function seen({ status, headers, text }: Answer) {
  const id = headers['x-request-id'] as string
  expect(id).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  const shown = Object.entries(headers).filter(([name]) => !PASSING.includes(name) && name !== 'cache-control')
  const named = (value: string) => value.replaceAll(id, 'the request id')
  return {
    status,
    headers: Object.fromEntries(shown.map(([name, value]) => [name, named(String(value))])),
    text: named(text),
  }
}

const secret = ['/v1/calendar/s3cret.ics', '/v1/card/s3cret']
const logged = ['/v1/oauth/connected', '/v1/oauth/connected?next=/v1/card/', '/v1/storage/card/x']

const NOT_HTTP = 'GET / HTTP/1.1\r\nHost: apps.localhost\r\nNo header\r\n\r\n'

async function sendRaw(port: number, bytes: string): Promise<Answer> {
  const connection = await Connection.open(port)
  await connection.send(bytes)
  const answer = await connection.answer()
  return { ...answer, body: JSON.parse(answer.text) }
}

describe.skipIf(missing.length > 0)(`a balancer's own answers ${missing.join(', ')}`, () => {
  const topology = startedTogether(startFaultyTopology)
  let authorization: string
  /** The answers of nodes without their database. */
  const ofNode = new Map<Ask, Answer>()
  let notHttp: Answer

  const ask = (port: number, { method, path, host, form }: Ask, headers: OutgoingHttpHeaders = {}) =>
    send(port, method, path, {
      headers: {
        host,
        ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : { authorization }),
        ...headers,
      },
      ...(form !== undefined && { form }),
    })

  beforeAll(async () => {
    authorization = `Bearer ${await demoToken(topology.dataDir, { client: 'planner-web' })}`
    await topology.database.begin('blackhole')
    const [node] = topology.nodes
    for (const one of [...Object.values(asks), page]) ofNode.set(one, await ask(node!.publicPort, one))
    ofNode.set(trpc, await ask(node!.internalPort, trpc))
    notHttp = await sendRaw(node!.publicPort, NOT_HTTP)
  })

  it('are none while the database is away: a node answers though none is ready', async () => {
    for (const { name } of topology.nodes) {
      const isDown = `Server public/${name} is DOWN`
      await expect.poll(() => topology.program('proxy').output()).toContain(isDown)
    }
    for (const [name, one] of Object.entries({ ...asks, page })) {
      const id = `unready-${name.replaceAll(' ', '-')}`
      const answer = await ask(topology.publicPort, one, { 'x-request-id': id })
      expect([name, answer.status, seen(answer)]).toEqual([name, 503, seen(ofNode.get(one)!)])
      const logs = () => topology.nodes.map((node) => topology.program(node.name).output()).join('\n')
      await expect.poll(() => logs()).toContain(id)
    }
  })

  describe('when no node runs', () => {
    beforeAll(async () => {
      await Promise.all(topology.nodes.map(({ name }) => topology.stop(name)))
    })

    it('the nginx in docs/production.md logs no address of a calendar and no code of a card, as access or as an error', async () => {
      const { port, log, errors } = await startNginx(topology.nodes[0]!.publicPort)
      for (const path of [...secret, ...logged]) await ask(port, request('GET', 'auth', path))
      for (const path of logged) {
        await expect.poll(log).toContain(`GET ${path} `)
        await expect.poll(errors).toContain(`GET ${path} `)
      }
      expect((await log()) + errors()).not.toContain('s3cret')
    })

    it('HAProxy logs no address of a calendar and no code of a card', async () => {
      const log = () => topology.program('proxy').output()
      for (const path of [...secret, ...logged]) await ask(topology.publicPort, request('GET', 'auth', path))
      for (const path of logged) await expect.poll(log).toContain(`GET ${path} `)
      expect(log()).not.toContain('s3cret')
    })

    const balancers: [string, () => Promise<{ port: number }>][] = [
      ['of haproxy.cfg', async () => ({ port: topology.publicPort })],
      ['of the nginx in docs/production.md', () => startNginx(topology.nodes[0]!.publicPort)],
    ]
    describe.each(balancers)('%s', (_, start) => {
      it('are those of the service to apps: status, envelope, Retry-After, CORS, request id', async () => {
        const { port } = await start()
        for (const [name, one] of Object.entries(asks)) {
          const answer = await ask(port, one)
          const { 'x-error-code': code, link, ...headers } = answer.headers
          expect([code, link]).toEqual(['unavailable', '</v1/docs/errors#unavailable>; rel="help"'])
          // The service sends those two with its own errors only, not with OAuth's.
          const own = ofNode.get(one)!.headers.link ? answer : { ...answer, headers }
          expect([name, seen(own)]).toEqual([name, seen(ofNode.get(one)!)])
          expect([name, answer.headers['retry-after']]).toEqual([name, '2'])
          expect([name, answer.headers['cache-control']]).toEqual([name, 'no-store'])
        }
        expect(seen(await ask(port, userinfo))).toEqual(seen(ofNode.get(asks.apps!)!))
      })

      it('are the same when a node dies in the middle of a request', async () => {
        const { port } = await start()
        let taken = 0
        const dying = createServer((socket) => {
          socket
            .on('error', () => {})
            .once('data', () => {
              taken++
              socket.destroy()
            })
        })
        await once(dying.listen(topology.nodes[0]!.publicPort, '127.0.0.1'), 'listening')
        const answer = await ask(port, asks.lms!)
        dying.close()
        expect(taken).toBeGreaterThan(0)
        expect(seen(answer)).toEqual(seen(ofNode.get(asks.lms!)!))
      })

      it('have the request id of the client where the service takes it over, else a new one', async () => {
        const { port } = await start()
        const own = await ask(port, asks.apps!, { 'x-request-id': 'A.own_id-1' })
        expect([own.headers['x-request-id'], own.body.error.request_id]).toEqual(['A.own_id-1', 'A.own_id-1'])
        for (const wrong of ['', 'a b', 'x"y', 'x'.repeat(65)]) {
          const { headers, body } = await ask(port, asks.apps!, { 'x-request-id': wrong })
          expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{32,36}$/)
          expect(body.error.request_id).toBe(headers['x-request-id'])
        }
      })

      it('let a browser see them: the preflight succeeds, and HEAD has no body', async () => {
        const { port } = await start()
        const preflight = await ask(port, { ...asks.notify!, method: 'OPTIONS' })
        expect(preflight.status).toBeOneOf([200, 204])
        expect(preflight.headers['access-control-allow-origin']).toBe('*')
        expect(preflight.headers['access-control-max-age']).toBeUndefined()
        for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']) {
          expect(preflight.headers['access-control-allow-methods']).toContain(method)
        }
        const asked = {
          'access-control-request-method': 'PATCH',
          'access-control-request-headers': 'baggage,x-requested-with',
        }
        for (const one of [...Object.values(asks), userinfo, page]) {
          const { status, headers } = await ask(port, { ...one, method: 'OPTIONS' }, asked)
          expect(status).toBeOneOf([200, 204])
          expect(headers['access-control-allow-origin']).toBe('*')
          expect(headers['access-control-allow-methods']).toContain('PATCH')
          expect(headers['access-control-allow-headers']).toMatch(/Authorization.*baggage,x-requested-with/)
        }
        const odd = { 'access-control-request-method': 'A B', 'access-control-request-headers': 'a"b' }
        const own = await ask(port, { ...asks.notify!, method: 'OPTIONS' }, odd)
        expect(own.headers['access-control-allow-methods']).toBe('GET, HEAD, PUT, POST, DELETE')
        expect(own.headers['access-control-allow-headers']).not.toContain('"')
        const head = await fetch(`http://127.0.0.1:${port}/v1/me/profile`, { method: 'HEAD' })
        expect([head.status, head.headers.get('retry-after'), await head.text()]).toEqual([503, '2', ''])
      })

      it('are a page to the member who signs in, in both languages and unseen by other origins', async () => {
        const { port } = await start()
        const { status, headers, text } = await ask(port, page)
        const node = ofNode.get(page)!
        expect([status, headers['content-type']]).toEqual([node.status, node.headers['content-type']])
        expect(headers['retry-after']).toBe('2')
        expect(headers['access-control-allow-origin']).toBeUndefined()
        expect(text).toContain(/<title>(.*?)<\/title>/.exec(node.text)![1])
        expect(text).toContain(/<p class="lead">(.*?)<\/p>/.exec(node.text)![1])
        expect(text).toContain('lang="de"')
        expect(text).toContain(`<code>${headers['x-request-id']}</code>`)
      })
    })

    it('of nginx to what is not HTTP are those of the service', async () => {
      const { port } = await startNginx(topology.nodes[0]!.publicPort)
      expect(seen(await sendRaw(port, NOT_HTTP))).toEqual(seen(notHttp))
    })

    it('of the internal port are those of tRPC, so that a client waits', async () => {
      const [answer, node] = [await ask(topology.internalPort, trpc), ofNode.get(trpc)!]
      const { path: _, ...data } = node.body.error.data
      expect(answer.body).toEqual({ error: { ...node.body.error, data } })
      expect([answer.status, answer.headers['retry-after']]).toEqual([node.status, node.headers['retry-after']])
      const unknown = await ask(topology.internalPort, { ...trpc, path: '/metrics' })
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
    })
  })
})
