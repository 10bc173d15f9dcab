import { beforeEach, describe, expect, it } from 'vitest'
import { procedures } from '../../routers/index.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { errors as german } from '../../server/portal/pages/refusals.ts'
import { portalWorld } from './portal-world.ts'

const team = portalWorld()
let client: string
beforeEach(async () => {
  await team.world.db.client.deleteMany({ where: { teamId: team.world.ids.team, appId: team.world.ids.app } })
  client = (await team.sandbox()).id
})

const inGerman = { 'accept-language': 'de' }
const wrong = { version: '0', name: '<b>', redirectUris: 'http://app.example/\r\n/back' }

describe('a refused form', () => {
  it('has each problem at its field, and the first field at fault gets the focus', async () => {
    const before = await team.world.db.client.findMany({ where: { teamId: team.world.ids.team } })
    const fields = { ...wrong, name: ' ', type: 'web' }
    const { status, text } = await team.asOwner.post(`${team.app}/clients/create`, fields)
    expect(status).toBe(400)
    const input = (id: string) => new RegExp(`<(?:input|textarea) id="${id}"[^>]*>`).exec(text)![0]
    const invalid = (id: string, focus: string) =>
      expect(input(id)).toMatch(new RegExp(`aria-describedby="${id}-hint ${id}-problem" aria-invalid="true"${focus}>`))
    invalid('create-name', ' autofocus')
    invalid('create-redirectUris', '')
    expect(text).toContain('id="create-name-problem"><span>The name of the client must be 1 to 100 characters')
    expect(text).toContain(
      'http://app.example/ cannot be a redirect URI: http:// is for 127.0.0.1, [::1] and localhost only.',
    )
    expect(text).toContain('/back cannot be a redirect URI: it is not an absolute URI.')
    expect(text).toContain('id="create-scopes-problem"><span>A client needs a scope.')
    expect(text.match(/autofocus/g)).toHaveLength(1)
    expect(await team.world.db.client.findMany({ where: { teamId: team.world.ids.team } })).toEqual(before)
  })

  it('is in German for readers of German', async () => {
    const { text } = await team.asOwner.post(`${team.clientAt(client)}/sign-in/settings`, wrong, inGerman)
    expect(text).toContain('lang="de"')
    expect(text).toContain(
      'http://app.example/ kann keine Redirect-URI sein: http:// ist nur für 127.0.0.1 und [::1] erlaubt.',
    )
    expect(text).toContain('value="&lt;b&gt;"')
    expect(text).not.toMatch(/cannot be|lang="en"/)
    const webhook = { url: 'http://hooks.example/', secret: 'a b' }
    const refused = await team.asOwner.post(`${team.app}/webhook/set`, webhook, inGerman)
    expect(refused.text).toContain('Die Adresse ist eine https-Adresse')
    expect(refused.text).toMatch(/<input id="set-url"[^>]* aria-invalid="true" autofocus>/)
  })
})

describe('the German sentences', () => {
  it('cover each error that a form can get', () => {
    const declared = Object.entries(procedures).flatMap(([path, { _def }]) =>
      path.startsWith('developer.') && _def.type === 'mutation'
        ? ((_def.meta as { fails?: string[] }).fails ?? [])
        : [],
    )
    // 404 has a page of its own; registrationRefused has the sentences of its faults.
    const rows = errors as unknown as Record<string, () => { status: number }>
    const own = declared.filter((id) => rows[id]!().status !== 404)
    const undeclared = [
      'inputInvalid',
      'requestInvalid',
      'peopleLimited',
      'changesLimited',
      'testClubLimited',
      'testsLimited',
      'confirmationWrong',
    ]
    const ofSchemas = ['nameInvalid', 'urlInvalid', 'secretInvalid', 'sinceInvalid', 'eventTypeUnknown', 'typesInvalid']
    expect(Object.keys(german).sort()).toEqual([...new Set([...own, ...undeclared, ...ofSchemas])].sort())
  })
})
