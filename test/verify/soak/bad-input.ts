import type { Reply } from '../../support/request.ts'
import { send } from '../../support/request.ts'
import type { World } from './world.ts'

/** Requests that are to be refused, each with a status below 500. */
export async function openBadInput(world: World): Promise<(() => Promise<Reply>)[]> {
  const { publicPort, internalPort } = world.topology
  const token = await world.memberToken('apps', world.people[0]!)
  const apps = { host: 'apps.test', authorization: `Bearer ${token}` }
  const json = { ...apps, 'content-type': 'application/json' }
  const platform = { authorization: `Bearer ${await world.platformToken(world.ids.provider)}` }
  const rest = (method: string, path: string, headers: Record<string, string>, body?: unknown) => () =>
    send(publicPort, method, `/v1/${path}`, { headers, body })
  const trpc =
    (path: string, body: unknown, headers = platform) =>
    () =>
      send(internalPort, 'POST', `/trpc/${path}`, { headers, body })
  return [
    rest('GET', 'me/profile', { host: 'apps.test' }),
    rest('GET', 'me/profile', { host: 'apps.test', authorization: 'Bearer not.a.token' }),
    rest('GET', 'me/profile', { host: 'apps.test', authorization: `Bearer ${token.slice(0, -8)}AAAAAAAA` }),
    rest('GET', 'me/profile', { ...apps, host: 'lms.test' }),
    rest('GET', 'nothing', apps),
    rest('PATCH', 'me/profile', apps),
    rest('GET', 'storage/soak?limit=all&offset=-1', apps),
    rest('GET', `storage/soak/${'k'.repeat(3_000)}`, apps),
    rest('GET', 'storage/%00/%ff', apps),
    rest('PUT', 'storage/soak/k', json, '{"value":'),
    rest('PUT', 'storage/soak/k', json, '{"value":"\\ud800"}{}'),
    rest('PUT', 'storage/soak/k', { ...json, 'content-type': 'text/plain' }, 'value'),
    rest('PUT', 'storage/soak/k', { ...json, 'if-match': 'no tag' }, '{"value":1}'),
    rest('PUT', 'storage/soak/large', json, `{"value":"${'x'.repeat(11_000_000)}"}`),
    rest('PUT', 'storage/soak/deep', json, `{"value":${'['.repeat(50_000)}`),
    trpc('storage.put', { collection: 'c' }),
    trpc('nothing', {}),
    trpc('events.publish', { app: 'nobody', type: '', data: 1 }),
    trpc('directory.people.upsert', { items: [{ id: '' }] }),
    trpc('events.publish', {}, { authorization: 'Bearer nobody' }),
  ]
}
