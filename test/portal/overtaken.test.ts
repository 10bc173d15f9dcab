import { generateKeyPairSync } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { eventsRead, profileRead, redirect } from '../developer/team-world.ts'
import { findForms, sentForm } from '../support/sent-form.ts'
import { listOtherPages, listPages, portal, portalWorld, storeEntry } from './portal-world.ts'

const team = portalWorld()
let client: string
let address: string
let club: string
beforeEach(async () => {
  const { db, ids } = team.world
  await db.client.deleteMany({ where: { appId: ids.app } })
  await db.subscription.deleteMany({ where: { appId: ids.app, address: true } })
  client = (await team.sandbox({ scopes: [profileRead, eventsRead] })).id
  const settings = { environment: 'sandbox', url: 'https://hooks.example/more', types: null } as const
  address = (await team.as(team.owner).addresses.create({ app: ids.app, ...settings })).id
  await db.app.update({ where: { id: ids.app }, data: { description: 'Plans.', webhookUrl: 'https://hooks.example/' } })
  await db.storageEntry.deleteMany({ where: { appId: ids.app } })
  club = await storeEntry(team)
})

const asOwner = () => team.as(team.owner)
const app = () => team.world.ids.app
const countClients = () => team.world.db.client.count({ where: { teamId: team.world.ids.team } })
const ofClient = async () => {
  const { version } = await team.world.db.client.findUniqueOrThrow({ where: { id: client } })
  return asOwner().clients.update({ client, version, name: 'By the owner' })
}

interface Case {
  page: () => string
  /** Somebody else's change. */
  overtake: () => Promise<unknown>
  /** A field, what it refuses, and what it accepts. */
  field: string
  wrong: string
  right: string
  /** Accepted with it. */
  more?: Record<string, string>
}

/** The forms that show stored values, and post all of them: by the last segment of their address. */
const cases: Record<string, Case> = {
  'settings/details': {
    page: () => `${team.app}/settings`,
    overtake: () => asOwner().apps.update({ app: app(), description: 'By the owner.' }),
    field: 'homepage',
    wrong: 'http://x',
    right: 'https://x.example/',
  },
  'sign-in/settings': {
    page: () => `${team.clientAt(client)}/sign-in`,
    overtake: ofClient,
    field: 'redirectUris',
    wrong: 'http://x',
    right: redirect,
  },
  'scopes/set': {
    page: () => `${team.clientAt(client)}/scopes`,
    overtake: ofClient,
    field: 'scopes',
    wrong: '',
    right: profileRead,
  },
  'credentials/authentication': {
    page: () => `${team.clientAt(client)}/credentials`,
    overtake: ofClient,
    field: 'keys',
    wrong: '{',
    right: JSON.stringify(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })),
    more: { authentication: 'private_key_jwt' },
  },
  'production/request': {
    page: () => `${team.clientAt(client)}/production`,
    overtake: ofClient,
    field: 'name',
    wrong: ' ',
    right: 'Real',
    more: { [`purpose.${profileRead}`]: 'It greets.', [`purpose.${eventsRead}`]: 'It plans.' },
  },
  'webhook/set': {
    page: () => `${team.app}/webhook`,
    overtake: () => asOwner().webhook.set({ app: app(), url: 'https://owner.example/' }),
    field: 'url',
    wrong: 'http://x',
    right: 'https://x.example/',
  },
  'addresses/set': {
    page: () => `${team.app}/addresses/${address}`,
    overtake: () => asOwner().addresses.update({ app: app(), id: address, url: 'https://hooks.example/owner' }),
    field: 'url',
    wrong: 'http://x',
    right: 'https://hooks.example/x',
  },
  'data/save': {
    page: () => `${team.app}/data/${club}/shared/c/k`,
    overtake: () => storeEntry(team, '"by the owner"'),
    field: 'value',
    wrong: '{',
    right: '2',
  },
}

const isVersion = (name: string) => name === 'version' || name === 'etag'

describe('a form that another change has overtaken', () => {
  const post = (page: string, action: string, form: URLSearchParams) =>
    team.asOwner.post(`${page}/${action}`, `${form}`)

  it.each(Object.entries(cases))(
    '%s is 409 however often it is corrected, and changes nothing',
    async (name, given) => {
      const [page, action] = [given.page(), name.split('/')[1]!]
      const open = async () => (await team.asOwner.get(page)).text
      const typed = sentForm(await open(), action)
      for (const [field, value] of Object.entries(given.more ?? {})) typed.set(field, value)
      await given.overtake()
      const [before, clients] = [sentForm(await open(), action), await countClients()]
      typed.set(given.field, given.wrong)
      const refused = await post(page, action, typed)
      expect([400, 409]).toContain(refused.status)
      const again = sentForm(refused.text, action)
      expect([...again].filter(([field]) => isVersion(field))).toEqual([...typed].filter(([field]) => isVersion(field)))
      for (const corrected of [again, typed]) {
        corrected.set(given.field, given.right)
        const { status, text } = await post(page, action, corrected)
        expect([status, text.includes('This has been changed in the meantime.')]).toEqual([409, true])
        expect(text).toContain(`href="${new URL(page).pathname}" target="_blank"`)
      }
      expect([`${sentForm(await open(), action)}`, await countClients()]).toEqual([`${before}`, clients])
      for (const [field, value] of Object.entries({ ...given.more, [given.field]: given.right }))
        before.set(field, value)
      expect((await post(page, action, before)).status).toBe(303)
    },
  )

  it.each(Object.entries(cases))('%s is refused without its version', async (name, given) => {
    const [page, action] = [given.page(), name.split('/')[1]!]
    const form = sentForm((await team.asOwner.get(page)).text, action)
    for (const field of ['version', 'etag']) form.delete(field)
    for (const [field, value] of Object.entries({ ...given.more, [given.field]: given.right })) form.set(field, value)
    const { status } = await post(page, action, form)
    expect([400, 409]).toContain(status)
  })

  it('names the page in German', async () => {
    const fields = { version: '999', name: 'Trainer', description: '', homepage: '' }
    const { text } = await team.asOwner.post(`${team.app}/settings/details`, fields, { 'accept-language': 'de' })
    expect(text).toContain('Das wurde inzwischen geändert.')
    expect(text).toContain('die Seite in einem neuen Tab öffnen')
  })

  it('is each one that shows stored text', async () => {
    const { ids } = team.world
    const invitation = await asOwner().people.invite({ team: ids.team, email: 'new@example.org', role: 'developer' })
    const others = { address, club, person: team.colleague, invitation: invitation.id }
    const pages = [
      ...listPages(ids.team, ids.app, client, await team.failed()),
      ...listOtherPages(ids.team, ids.app, others),
    ]
    const found = new Map<string, boolean>()
    for (const page of pages) {
      const { text, status } = await team.asOwner.get(portal + page)
      if (status !== 200) continue
      const section = page
        .replace(`/${address}`, '')
        .replace(/^\/teams\/.*\/data\/.*$/, '/data')
        .split('/')
        .at(-1)!
      for (const [action, form] of findForms(text)) {
        const shows = /<input[^>]* type="(?:text|url|email)" value="[^"]|<textarea[^>]*>\n[^<]/.test(form)
        if (shows) found.set(`${section}/${action}`, /name="(?:version|etag)"/.test(form))
      }
    }
    expect([...found].filter(([, hasVersion]) => !hasVersion)).toEqual([])
    // The others have boxes and choices alone, or are empty for this client.
    const without = ['scopes/set', 'credentials/authentication']
    expect([...found.keys()].sort()).toEqual(
      Object.keys(cases)
        .filter((name) => !without.includes(name))
        .sort(),
    )
  })
})
