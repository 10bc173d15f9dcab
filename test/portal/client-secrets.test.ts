import { exportJWK, generateKeyPair } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { matchesSecret } from '../../routers/developer/secrets/client-secret.ts'
import { id } from '../support/tenant.ts'
import { portal, portalWorld } from './portal-world.ts'

const team = portalWorld()
let client: string
let own: string
beforeEach(async () => {
  await team.world.db.client.deleteMany({ where: { appId: team.world.ids.app, id: { startsWith: 'c_' } } })
  client = (await team.sandbox()).id
  own = `${team.clientAt(client)}/credentials`
})

const secrets = () =>
  team.world.db.clientSecret.findMany({ where: { clientId: client }, orderBy: { createdAt: 'asc' } })
const stored = () => team.world.db.client.findUniqueOrThrow({ where: { id: client } })
const create = (fields: Record<string, string> = { days: '90' }) =>
  team.asColleague.post(`${own}/create-secret`, fields)
const secretIn = (text: string) => /<code data-copy="Secret">([\w-]{43})<\/code>/.exec(text)?.[1]
const german = async () => {
  const browser = await team.signIn(team.owner)
  browser.language = 'de'
  return browser
}

describe('a secret in the portal', () => {
  it('is shown once, with a copy button, when it is created', async () => {
    const answer = await create()
    expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store'])
    const secret = secretIn(answer.text)!
    const [row] = await secrets()
    expect(matchesSecret(row!.hash, secret)).toBe(true)
    expect(row!.expiresAt.getTime() - row!.createdAt.getTime()).toBe(90 * 86_400_000)
    const reloaded = await team.asColleague.get(`${own}/create-secret`)
    expect([reloaded.status, reloaded.location?.href]).toEqual([303, own])
    const texts = [await team.asColleague.get(own), await team.asOwner.get(`${team.own}/audit`)].map(({ text }) => text)
    expect(texts.join()).toContain('Secret created')
    for (const word of [secret, row!.hash]) expect(texts.join()).not.toContain(word)
    expect(await secrets()).toHaveLength(1)
  })

  it('of a public client is used at once where that is ticked', async () => {
    expect((await team.asColleague.get(own)).text).toContain('name="use" value="yes"')
    const unused = 'This client does not use it yet'
    expect((await create()).text).toContain(unused)
    expect(await stored()).toMatchObject({ authentication: 'none', version: 0 })
    const used = (await create({ days: '90', use: 'yes' })).text
    expect(secretIn(used)).toBeDefined()
    expect(used).not.toContain(unused)
    expect(await stored()).toMatchObject({ authentication: 'client_secret', version: 1 })
    expect((await team.asColleague.get(own)).text).not.toContain('name="use"')
  })

  it('of a client with a key is not used, and page and answer say so', async () => {
    const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] }
    await team.world.db.client.update({ where: { id: client }, data: { authentication: 'private_key_jwt', jwks } })
    expect((await team.asColleague.get(own)).text).toContain('They are not used until')
    expect((await create({ days: '90', use: 'yes' })).text).toContain('This client does not use it yet')
    expect(await stored()).toMatchObject({ authentication: 'private_key_jwt', jwks, version: 0 })
  })

  it('has its creation, last use and end on the page of the client', async () => {
    const of = { clientId: client, hash: 'x'.repeat(43) }
    await team.world.db.clientSecret.createMany({
      data: [
        {
          ...of,
          id: id('secret'),
          createdAt: new Date('2026-01-02'),
          expiresAt: new Date('2026-04-02'),
          lastUsedAt: new Date('2026-03-04T05:06:07Z'),
        },
        { ...of, id: id('secret'), createdAt: new Date('2099-01-02'), expiresAt: new Date('2099-04-02') },
      ],
    })
    const { text } = await team.asColleague.get(own)
    const rows = [...text.matchAll(/<tr role="row">(.*?)<\/tr>/gs)].map(([, row]) =>
      row!
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
    expect(rows).toEqual([
      'Created Last used Expires Actions',
      '2 Jan 2099 never 2 Apr 2099 Remove secret',
      '2 Jan 2026 4 Mar 2026 05:06:07 2 Apr 2026 expired Remove secret',
    ])
    expect(text).toContain('They are not used until')
    expect((await (await german()).get(own)).text).toContain('Zuletzt verwendet')
  })

  it('is refused beyond two, in the language of the reader, and nothing is created', async () => {
    for (let n = 0; n < 2; n++) expect((await create()).status).toBe(200)
    const refused = await create()
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('A client can have at most two valid secrets. Remove one first.')
    expect(secretIn(refused.text)).toBeUndefined()
    const inGerman = await (await german()).post(`${own}/create-secret`, { days: '90' })
    expect(inGerman.text).toContain('Ein Client kann höchstens zwei gültige Secrets haben.')
    expect(await secrets()).toHaveLength(2)
  })

  it.each([{}, { days: '91' }, { days: 'x' }])('is not created by an altered form %j', async (fields) => {
    expect((await create(fields)).status).toBe(400)
    expect(await secrets()).toEqual([])
  })

  it('is removed after a confirmation, and then its pages are 404', async () => {
    await create()
    const secret = (await secrets())[0]!.id
    const page = `${own}/secrets/${secret}/remove`
    const { text } = await team.asColleague.get(own)
    expect(text).toContain(new URL(page).pathname)
    expect((await team.asColleague.get(page)).text).toContain('requests with this secret are refused')
    expect(await secrets()).toHaveLength(1)
    const other = `${team.clientAt((await team.sandbox()).id)}/credentials`
    expect((await team.asColleague.post(`${other}/secrets/${secret}/remove/confirm`, {})).status).toBe(404)
    expect((await team.asStranger.post(`${page}/confirm`, {})).status).toBe(404)
    expect(await secrets()).toHaveLength(1)
    const removed = await team.asColleague.follow(await team.asColleague.post(`${page}/confirm`, {}))
    expect(removed.text).toContain('Removed.')
    expect(await secrets()).toEqual([])
    expect((await team.asColleague.get(page)).status).toBe(404)
    expect((await team.asColleague.post(`${page}/confirm`, {})).status).toBe(404)
  })

  it('that is the last valid one in use has a warning before it is removed', async () => {
    await create()
    await team.asColleague.post(`${own}/authentication`, { version: '0', authentication: 'client_secret' })
    const warning = async () => {
      const page = await team.asColleague.get(`${own}/secrets/${(await secrets())[0]!.id}/remove`)
      return page.text.includes('nobody can sign in with this client')
    }
    expect(await warning()).toBe(true)
    await create()
    expect(await warning()).toBe(false)
  })

  it('is not offered for a native client', async () => {
    const native = await team.sandbox({ type: 'native', redirectUris: ['com.example.app:/back'] })
    const at = `${team.clientAt(native.id)}/credentials`
    expect((await team.asColleague.get(at)).text).not.toContain('create-secret')
    expect((await team.asColleague.post(`${at}/create-secret`, { days: '90' })).status).toBe(409)
    expect(await team.world.db.clientSecret.count({ where: { clientId: native.id } })).toBe(0)
  })

  it('is created and shown after signing in again, where the sign-in was too long ago', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(16 * 60)
    const asked = await browser.post(`${own}/create-secret`, { days: '365' })
    expect([asked.status, await secrets()]).toEqual([303, []])
    const page = await browser.follow(asked)
    const shown = await browser.follow(await browser.submit(page, 'pick', { member: team.owner }))
    const [row] = await secrets()
    expect(matchesSecret(row!.hash, secretIn(shown.text)!)).toBe(true)
    const again = await browser.get(`${portal}/continue`)
    expect([again.status, again.location?.href]).toEqual([303, portal])
    team.world.advance(-16 * 60)
  })
})

describe('the authentication of a client in the portal', () => {
  const set = (fields: Record<string, string>) =>
    team.asColleague.post(`${own}/authentication`, { version: '0', ...fields })

  it('is changed to a secret or keys, and then the reference is not offered', async () => {
    expect((await team.asColleague.get(team.clientAt(client))).text).toContain('/reference"')
    await create()
    const page = await team.asColleague.follow(await set({ authentication: 'client_secret', keys: '' }))
    expect(page.text).toContain('Saved.')
    expect(page.text).not.toContain('/reference"')
    expect(page.text).not.toContain('They are not used until')
    expect((await stored()).authentication).toBe('client_secret')
    const jwk = await exportJWK((await generateKeyPair('ES256')).publicKey)
    const keys = JSON.stringify(jwk)
    expect((await set({ version: '1', authentication: 'private_key_jwt', keys })).status).toBe(303)
    expect(await stored()).toMatchObject({ authentication: 'private_key_jwt', jwks: { keys: [jwk] } })
    expect((await team.asColleague.get(own)).text).toContain(jwk.x)
  })

  it.each<[Record<string, string>, number, string, string]>([
    [
      { authentication: 'client_secret' },
      409,
      'This client has no valid secret. Create one first.',
      'Dieser Client hat kein gültiges Secret.',
    ],
    [{ authentication: 'private_key_jwt', keys: '' }, 400, 'There is no key.', 'Es fehlt ein Schlüssel.'],
    [{ authentication: 'private_key_jwt', keys: '{' }, 400, 'neither JSON nor PEM', 'weder JSON noch PEM'],
    [{ authentication: 'other' }, 400, 'The request is not valid HTTP.', 'Das Formular ist unvollständig.'],
  ])('%j is refused in the language of the reader, and changes nothing', async (fields, status, en, de) => {
    const refused = await set(fields)
    expect(refused.status).toBe(status)
    expect(refused.text).toContain(en)
    const inGerman = await (await german()).post(`${own}/authentication`, { version: '0', ...fields })
    expect(inGerman.text).toContain(de)
    expect(await stored()).toMatchObject({ authentication: 'none', jwks: null, version: 0 })
  })

  it('of a production client cannot be ended', async () => {
    client = await team.production()
    own = `${team.clientAt(client)}/credentials`
    const version = String((await stored()).version)
    await create()
    await set({ version, authentication: 'client_secret' })
    const page = await team.asColleague.get(own)
    expect(page.text).not.toContain('<option value="none"')
    const refused = await set({ version: String(Number(version) + 1), authentication: 'none' })
    expect([refused.status, (await stored()).authentication]).toEqual([409, 'client_secret'])
  })
})
