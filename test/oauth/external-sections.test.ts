import { describe, expect, it } from 'vitest'
import { externalWorld } from './external-world.ts'

const audiences = { apps: 'urn:apps', lms: 'urn:lms', notify: 'urn:notify' }
const notValid = { status: 401, body: { error: { message: 'This token is not valid.' } } }

describe('a token', () => {
  it.each<[string | string[], number[]]>([
    ['urn:apps', [200, 200, 401, 401, 200]],
    ['urn:lms', [401, 401, 404, 401, 401]],
    ['urn:notify', [401, 401, 401, 200, 401]],
    [
      ['urn:elsewhere', 'urn:notify', 'urn:apps'],
      [200, 200, 401, 200, 200],
    ],
    [Object.values(audiences), [200, 200, 404, 200, 200]],
    [['urn:elsewhere'], [401, 401, 401, 401, 401]],
    ['urn', [401, 401, 401, 401, 401]],
    ['http://sync.test/v1', [401, 401, 401, 401, 401]],
    [[], [401, 401, 401, 401, 401]],
  ])('for %s is accepted by its sections only, for apps by sync too, over REST and tRPC', async (aud, statuses) => {
    const { world, token } = await externalWorld({ settings: { audiences } })
    const { club, academy, provider, app } = world.ids
    const rest = async (method: string, path: string, organisation: string, body?: unknown) =>
      (await world.call(method, path, { token: await token({ aud, organisation }), body })).status
    expect([
      await rest('GET', '/', club),
      await rest('PUT', '/storage/notes/a', club, { value: 1 }),
      await rest('POST', '/quizzes/none/results', academy, { answers: {} }),
      await rest('GET', `/apps/${app}/webhook`, provider),
      await rest('GET', '/collections/notes/entries', club),
    ]).toEqual(statuses)

    const trpc = async (method: string, name: string, organisation: string, input?: unknown) => {
      const query = method === 'GET' && input ? `?input=${encodeURIComponent(JSON.stringify(input))}` : ''
      const authorization = `Bearer ${await token({ aud, organisation })}`
      const body = method === 'POST' ? input : undefined
      return (await world.internal(method, `/trpc/${name}${query}`, { headers: { authorization }, body })).status
    }
    expect([
      await trpc('GET', 'root', club),
      await trpc('POST', 'storage.put', club, { collection: 'notes', key: 'b', value: 2 }),
      await trpc('POST', 'quizzes.submit', academy, { quizId: 'none', answers: {} }),
      await trpc('GET', 'webhook.get', provider, { id: app }),
      await trpc('GET', 'storage.entries', club, { collection: 'notes' }),
    ]).toEqual(statuses)

    const all = await token({ aud: Object.values(audiences) })
    const { total } = (await world.call('GET', '/storage/notes', { token: all })).body
    expect(total).toBe(statuses[1] === 200 ? 2 : 0)
  })

  it('for another section returns 401 before all other checks, and is not counted', async () => {
    const { world, token } = await externalWorld({ settings: { audiences } })
    await world.db.team.update({ where: { id: world.ids.team }, data: { level: 'hobby' } })
    for (const claims of [{ scope: '' }, { sub: 'nobody' }, { client_id: 'nobody' }]) {
      const given = await token({ aud: 'urn:lms', ...claims })
      const reply = await world.call('GET', '/me/profile', { token: given })
      expect(reply).toMatchObject(notValid)
      expect(reply.headers.ratelimit).toBeUndefined()
    }
    const own = await world.call('GET', '/me/profile', { token: await token({ aud: 'urn:apps' }) })
    expect(own).toMatchObject({ status: 200, headers: { ratelimit: '"team";r=59;t=60' } })
  })

  it('for some sections is checked for each call of a batch', async () => {
    const { world, token } = await externalWorld({ settings: { audiences } })
    const authorization = `Bearer ${await token({ aud: 'urn:apps' })}`
    const input = encodeURIComponent(JSON.stringify({ 1: { id: world.ids.app } }))
    const reply = await world.internal('GET', `/trpc/root,webhook.get?batch=1&input=${input}`, {
      headers: { authorization },
    })
    const outcomes = reply.body.map((one: Record<string, { data: object }>) => one.result?.data ?? one.error?.data)
    expect(outcomes).toMatchObject([{ api: 'apps', organisation: world.ids.club }, { httpStatus: 401 }])
  })
})
