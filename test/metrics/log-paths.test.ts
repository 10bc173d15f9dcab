import { beforeEach, describe, expect, it } from 'vitest'
import { send } from '../support/request.ts'
import { useWorld } from '../support/started.ts'

/** Whatever a client chooses in a path has this in it. */
const CANARY = 'canary4711'

const lines: Record<string, unknown>[] = []
const world = useWorld({
  auth: {},
  clubApproval: true,
  logLevel: 'debug',
  // The shared database has signing keys of other worlds, whose errors are no lines.
  onLog: (line) => void (line.startsWith('{') && lines.push(JSON.parse(line))),
})
beforeEach(() => void lines.splice(0))

const cases: [host: string, method: string, sent: string, logged: string][] = [
  ['apps', 'GET', '/v1', '/v1'],
  ['apps', 'GET', '/v1/', '/v1'],
  ['apps', 'GET', '/v1/me/profile', '/v1/me/profile'],
  ['apps', 'PUT', `/v1/storage/${CANARY}/${CANARY}`, '/v1/storage/{collection}/{key}'],
  ['apps', 'PATCH', `/v1/storage/${CANARY}/${CANARY}`, '/v1/storage/{collection}/{key}'],
  ['apps', 'OPTIONS', `/v1/storage/${CANARY}/${CANARY}`, '/v1/storage/{collection}/{key}'],
  ['lms', 'GET', `/v1/storage/${CANARY}`, '/v1/storage/{collection}'],
  [CANARY, 'GET', `/v1/storage/${CANARY}`, '/v1/storage/{collection}'],
  ['lms', 'GET', `/v1/quizzes/${CANARY}`, '/v1/quizzes/{quizId}'],
  ['sync', 'GET', `/v1/collections/${CANARY}/changes`, '/v1/collections/{collection}/changes'],
  ['apps', 'GET', `/v1/${CANARY}`, 'other'],
  ['apps', 'GET', `/v1/storage/${CANARY}/${CANARY}/${CANARY}`, 'other'],
  ['apps', 'GET', `/${CANARY}`, 'other'],
  ['apps', 'GET', '/v1/openapi.json', '/v1/openapi.json'],
  ['apps', 'POST', '/v1/openapi.json', '/v1/openapi.json'],
  ['apps', 'GET', '/v1/docs', '/v1/docs'],
  ['apps', 'GET', `/v1/docs/${CANARY}`, 'other'],
  ['apps', 'GET', '/docs/apps', '/docs/apps'],
  ['apps', 'GET', `/docs/${CANARY}`, 'other'],
  ['apps', 'GET', `/docs/images/${CANARY}`, 'other'],
  ['localhost', 'GET', '/', '/'],
  ['auth', 'GET', '/v1/oauth/connected', '/v1/oauth/connected'],
  ['auth', 'GET', `/v1/oauth/interaction/${CANARY}`, '/v1/oauth/interaction/{uid}'],
  ['auth', 'GET', `/v1/oauth/interaction/${CANARY}/person`, '/v1/oauth/interaction/{uid}/person'],
  ['auth', 'GET', `/v1/oauth/device/request/${CANARY}`, '/v1/oauth/device/request/{uid}'],
  ['auth', 'GET', `/v1/oauth/authorize/${CANARY}`, '/v1/oauth/authorize/{uid}'],
  ['auth', 'DELETE', `/v1/oauth/interaction/${CANARY}`, '/v1/oauth/interaction/{uid}'],
  ['auth', 'GET', `/v1/oauth/icons/${CANARY}/${CANARY}`, '/v1/oauth/icons/{app}/{version}'],
  ['auth', 'GET', `/v1/oauth/developers/teams/${CANARY}`, '/v1/oauth/developers/teams/{team}'],
  ['auth', 'GET', `/v1/oauth/${CANARY}`, 'other'],
  ['auth', 'GET', `/v1/calendar/${CANARY}.ics`, '/calendar/{secret}.ics'],
  ['auth', 'POST', `/v1/calendar/${CANARY}.ics`, '/calendar/{secret}.ics'],
  ['sync', 'GET', `/v1/calendar/${CANARY}.ics`, '/calendar/{secret}.ics'],
  ['auth', 'POST', '/v1/oauth/token', '/v1/oauth/token'],
  ['internal', 'GET', '/trpc/me.profile', '/trpc/me.profile'],
  ['internal', 'GET', `/trpc/me.${CANARY}`, '/trpc/other'],
  ['internal', 'GET', `/trpc/me.profile,${CANARY}?batch=1`, '/trpc/batch'],
  ['internal', 'DELETE', `/trpc/${CANARY}`, 'other'],
  ['internal', 'GET', '/healthz', '/healthz'],
  ['internal', 'GET', `/${CANARY}`, 'other'],
]

describe('the path of a line of the log', () => {
  it.each(cases)('has no value that a client chose: %s %s %s', async (host, method, sent, logged) => {
    const path = `${sent}${sent.includes('?') ? '&' : '?'}q=${CANARY}`
    const headers = { host: `${host}.test`, accept: host === 'localhost' ? 'text/html' : '*/*' }
    if (host === 'internal') await world.internal(method, path)
    else await send(world.publicPort, method, path, { headers })
    const { level, ...line } = lines.find(({ status }) => status !== undefined)!
    expect([level, line.path]).toEqual([sent === '/healthz' ? 20 : 30, logged])
    expect(JSON.stringify(line)).not.toContain(CANARY)
  })

  it.each(['GET', 'OPTIONS', 'POST'])('has no secret of a calendar at level debug either: %s', async (method) => {
    for (const host of ['auth.test', 'apps.test']) {
      const headers = { host, 'access-control-request-method': 'GET', origin: 'https://app.example' }
      await send(world.publicPort, method, `/v1/calendar/${CANARY}.ics`, { headers })
    }
    expect(JSON.stringify(lines)).not.toContain(CANARY)
    expect(lines.filter(({ sent }) => sent === '/v1/calendar/{secret}')).toHaveLength(2)
  })

  it('has it at level debug, for who looks for a 404, without the query', async () => {
    await send(world.publicPort, 'GET', `/v1/${CANARY}?q=hidden`, { headers: { host: 'apps.test' } })
    const [sent, line] = lines
    expect(sent).toMatchObject({ level: 20, requestId: line!.requestId, sent: `/v1/${CANARY}` })
    expect(line).toMatchObject({ level: 30, path: 'other', status: 404 })
    expect(JSON.stringify(lines)).not.toContain('hidden')
  })
})
