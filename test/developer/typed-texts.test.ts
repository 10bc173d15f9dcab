import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRefusal } from '../support/platform.ts'
import { times } from '../support/rounds.ts'
import { profileRead, redirect, teamWorld } from './team-world.ts'

const here = teamWorld()
const developer = () => here.as(here.owner)
const provider = () => here.world.ids.provider

const space = fc
  .array(fc.constantFrom(' ', '\t', '\n', '\r\n', '\u00a0', '\u3000', '\ufeff'), { maxLength: 3 })
  .map((spaces) => spaces.join(''))
const around = fc.tuple(space, space).map(
  ([before, behind]) =>
    (text: string) =>
      before + text + behind,
)

describe('white space around what a developer sends', () => {
  it('is not stored, in any field of an app and a client', async () => {
    const { id: app } = await developer().apps.create({
      team: here.world.ids.team,
      name: ' New ',
      provider: provider(),
    })
    let client = await here.sandbox({
      name: '\tNew ',
      redirectUris: [` ${redirect}\n`],
      scopes: [` ${profileRead} `],
    })
    expect([client.name, client.redirectUris, client.scopes]).toEqual(['New', [redirect], [profileRead]])
    await fc.assert(
      fc.asyncProperty(around, async (spaced) => {
        const texts = { name: 'Ärger', description: 'One\ntwo', homepage: 'https://a.example/' }
        const changed = await developer().apps.update({
          app: spaced(app),
          name: spaced('Ärger'),
          description: spaced('One\ntwo'),
          homepage: spaced(texts.homepage),
        })
        expect(changed).toMatchObject(texts)
        const logouts = [`${redirect}/bye`]
        client = await developer().clients.update({
          client: spaced(client.id),
          version: client.version,
          name: spaced('Ärger'),
          redirectUris: [spaced(redirect)],
          scopes: [spaced(profileRead)],
          postLogoutRedirectUris: logouts.map(spaced),
        })
        expect(client).toMatchObject({
          name: 'Ärger',
          redirectUris: [redirect],
          scopes: [profileRead],
          postLogoutRedirectUris: logouts,
        })
        const rule = { app, collection: spaced('scores'), rule: 'author' as const }
        expect(await developer().rules.set(rule)).toEqual({ collection: 'scores', rule: 'author' })
      }),
      { numRuns: times(50, 5) },
    )
  })

  it('is not stored with the webhook, an invitation and the purposes of a request', async () => {
    const { app, team } = here.world.ids
    const url = 'https://receiver.example/hook'
    expect(await developer().webhook.set({ app, url: ` ${url}\n`, secret: ' s3cret ' })).toEqual({
      url,
      hasSecret: true,
    })
    expect(await developer().people.invite({ team, email: ' New@example.org\n', role: 'developer' })).toMatchObject({
      email: 'new@example.org',
    })
    const { id: client } = await here.sandbox()
    const purpose = { [` ${profileRead} `]: '\nIt greets the member. ' }
    expect(await developer().clients.requestProduction({ client, name: ' Real ', purpose })).toMatchObject({
      name: 'Real',
      purpose: { [profileRead]: 'It greets the member.' },
    })
  })

  it('is no difference in the name that confirms a deletion, nor are composed letters', async () => {
    const { id: app } = await developer().apps.create({
      team: here.world.ids.team,
      name: 'Zürich  Rowing',
      provider: provider(),
    })
    expect(await readRefusal(developer().apps.remove({ app, confirm: 'zürich Rowing' }))).toMatchObject({ status: 409 })
    expect(await developer().apps.remove({ app, confirm: ' Zu\u0308rich Rowing\n' })).toMatchObject({ app })
  })
})

describe('the sentence of a refusal', () => {
  const create = (more: object) => here.sandbox(more)
  const update = (more: object) => developer().apps.update({ app: here.world.ids.app, ...more })
  const STRAY = 'where it joins nothing: it belongs between letters or emoji.'
  const UNSEEN = 'which cannot be seen or acts on the text around it.'

  it.each<[string, () => Promise<unknown>, string]>([
    ['a name', () => create({ name: 'Acme\u200d' }), `The name of the client has U+200D ${STRAY}`],
    ['a name', () => update({ name: 'Acme\u200b' }), `The name of the app has U+200B, ${UNSEEN}`],
    ['a description', () => update({ description: 'One \u200c' }), `The description of the app has U+200C ${STRAY}`],
    [
      'a homepage',
      () => update({ homepage: 'https://bücher.example/' }),
      'The homepage of the app has white space, or characters that must be encoded: in its host as xn--, elsewhere by percent.',
    ],
    [
      'a redirect',
      () => create({ redirectUris: ['https://a.example/a b'] }),
      'https://a.example/a b cannot be a redirect URI: it contains white space.',
    ],
    [
      'a redirect',
      () => create({ redirectUris: ['https://bücher.example/'] }),
      'https://bücher.example/ cannot be a redirect URI: characters beyond ASCII must be encoded, in a host as xn--, elsewhere by percent.',
    ],
    [
      'a redirect',
      () => create({ redirectUris: ['https://a.example/%zz'] }),
      'https://a.example/%zz cannot be a redirect URI: it has a character that must be encoded by percent.',
    ],
  ])('names the reason: %s', async (_, call, message) => {
    const before = await here.stored()
    expect(await readRefusal(call())).toMatchObject({ status: 400, message })
    expect(await here.stored()).toEqual(before)
  })

  it('is not needed for joiners within words and emoji', async () => {
    const texts = {
      name: 'Familie 👨\u200d👩\u200d👧',
      description: 'می\u200cخواهم\n🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}',
    }
    const { id: app } = await developer().apps.create({ team: here.world.ids.team, name: 'New', provider: provider() })
    expect(await update({ app, ...texts })).toMatchObject(texts)
    expect(await create({ name: 'می\u200cخواهم' })).toMatchObject({ name: 'می\u200cخواهم' })
  })
})
