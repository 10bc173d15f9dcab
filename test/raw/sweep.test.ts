import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../rest-facade/openapi.ts'
import { parseSegments, routes, routesAt } from '../../rest-facade/routes.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import { body, headers, method, search, segment, type } from './arbitraries.ts'
import { expectCommonHeaders, startRawService } from './raw-service.ts'
import type { Answer } from './socket.ts'
import { Connection } from './socket.ts'

const numRuns = times(700, 70)

const service = started(startRawService)
let templates: string[]
let connection: Connection
beforeAll(async () => {
  const { ids } = service.world
  // A sandbox client has no request limit.
  await service.world.db.client.update({ where: { id: ids.client }, data: { environment: 'sandbox' } })
  templates = [
    ...routes.map(({ path }) => `/v1${path.replaceAll(/\{\w+\}/g, '{}')}`),
    ...['/v1', '/v1/openapi.json', '/v1/{}', '/v1/me/{}', '{}', '/v1/storage/col/{}', '/v1/storage/col/k1'],
    `/v1/quizzes/${encodeURIComponent(service.quizId)}/results`,
    ...[`/v1/apps/${ids.app}/webhook`, `/v1/apps/${ids.app}/{}`],
  ]
  connection = await Connection.open(service.world.publicPort)
})

/** Sends requests over one connection as long as it stays open. */
async function exchange(bytes: Buffer, port: number, methodSent: string): Promise<Answer> {
  await connection.send(bytes)
  const answer = await connection.answer(methodSent)
  if (answer.headers.connection === 'close') {
    connection.end()
    await connection.ended
    connection = await Connection.open(port)
  }
  return answer
}

const detail = { detail: expect.any(String) }
const coded = (requestId: string | undefined) => ({
  error: { code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String), request_id: requestId },
})

/** The documents, for the statuses that each endpoint may return. */
const documents = new Map(
  sectionNames.map((section) => [
    section,
    openApiDocument(section, { urls: ['http://x.test/v1'], host: 'x.test', brand: 'x' }),
  ]),
)
function listStatuses(section: Section, methodSent: string, path: string): number[] {
  const segments = parseSegments(path)
  const found = segments ? routesAt(segments) : []
  if (found.length === 0) return path === '/v1/openapi.json' ? [200, 204, 304, 405] : [404]
  if (found[0]!.section !== section) return [404]
  if (methodSent === 'OPTIONS') return [204]
  const route = found.find((one) => one.method === (methodSent === 'HEAD' ? 'GET' : methodSent))
  if (!route) return [405]
  const operation = documents.get(section)!.paths[route.path]![route.method.toLowerCase()]!
  return Object.keys(operation.responses).map(Number)
}

describe('an arbitrary request', () => {
  it.each(sectionNames)('to %s gets a documented answer in the shape of that API', async (api) => {
    const targets = fc.tuple(fc.constantFrom(...templates), fc.array(segment, { minLength: 2, maxLength: 2 }), search)
    const target = targets.map(([template, [a, b], query]) => ({
      path: template.replace('{}', () => a!).replace('{}', () => b!),
      query,
    }))
    await fc.assert(
      fc.asyncProperty(
        method,
        target,
        headers,
        type,
        fc.option(body),
        async (methodSent, { path, query }, fields, typeSent, content) => {
          const sent = { api, headers: fields, type: typeSent, ...(content && { body: content }) }
          const bytes = service.request(`${methodSent} ${path}${query}`, sent)
          const answer = await exchange(bytes, service.world.publicPort, methodSent)
          const { status, text } = answer
          expectCommonHeaders(answer)
          // Node's parser refuses some targets and headers.
          if (answer.headers.connection === 'close') {
            expect(status).toBe(400)
            if (methodSent !== 'HEAD') expect(JSON.parse(text)).toEqual(coded(answer.headers['x-request-id']))
            return
          }
          const [bare] = path.split('?')
          const isPreflight =
            methodSent === 'OPTIONS' && fields.some((one) => /^access-control-request-method:/i.test(one))
          expect(isPreflight ? [204] : listStatuses(api, methodSent, bare!)).toContain(status)
          if (status >= 400 && methodSent !== 'HEAD') {
            const shape = api === 'apps' && status !== 401 ? detail : coded(answer.headers['x-request-id'])
            const wrongHost = status === 404 && text.includes('This API answers at')
            const error = JSON.parse(text)
            if (error.error?.reason) delete error.error.reason
            if (wrongHost) expect(JSON.stringify(error)).toMatch(/^{"(detail|error)":/)
            else expect(error).toEqual(shape)
            expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
          } else if (status < 300 && text !== '') JSON.parse(text)
          if (status === 405) expect(answer.headers.allow).toMatch(/GET|PUT|POST/)
        },
      ),
      { numRuns },
    )
  })
})
