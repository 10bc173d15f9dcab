import { describe, it } from 'vitest'
import { emailCodes } from '../../../server/browser/login/email-code.ts'
import { flow, issuer } from '../../oauth/auth-world.ts'
import type { Browser } from '../../oauth/browser.ts'
import { readFormAction } from '../../oauth/browser.ts'
import { listForms, listPages, portal, startPortal, storeEntry } from '../../portal/portal-world.ts'
import { started } from '../../support/started.ts'
import { sharedDatabase } from '../../support/world.ts'
import type { Input } from './costly-inputs.ts'
import { asPath, encoded, expectCheap, IN_HEAD, noLimits, withParameter } from './costly-inputs.ts'
import { repeated, shapes } from './costly-shapes.ts'

/** Outside of the portal, longer forms are refused unread. */
const IN_FORM = 7_800
/** Beside the cookies. */
const IN_QUERY = IN_HEAD - 3_000

const one = started(
  async () => {
    const codes = emailCodes({
      db: sharedDatabase(),
      now: Date.now,
      limits: noLimits,
      sendMail: async () => {},
      onError: () => {},
    })
    const portal = await startPortal({
      auth: { codes },
      limits: noLimits,
      clubApproval: true,
      consentAges: new Map([['', 16]]),
      onLog: () => {},
    })
    const client = (await portal.sandbox()).id
    const { authorizeUrl, toConsent, newBrowser } = flow(portal.world)
    const { url } = authorizeUrl({ client, scope: 'svc.me.profile:read' })
    const [member, visitor] = [newBrowser(), newBrowser()]
    const sandboxMember = (await portal.as(portal.owner).testClub.get({ team: portal.world.ids.team })).testClub!
      .members[0]!
    return {
      ...portal,
      client,
      member,
      visitor,
      delivery: await portal.failed(),
      club: await storeEntry(portal),
      consent: readFormAction(await toConsent(member, url, sandboxMember.id)),
      signIn: readFormAction(await visitor.open(`${issuer}/connected`)),
    }
  },
  ({ world }) => world.close(),
)

const formatCookies = ({ cookies }: Browser) =>
  [...new Map(cookies.map(({ name, value }) => [name, value]))].map((pair) => pair.join('=')).join('; ')

const at = (browser: Browser, path: string): Input => ({
  port: one.world.publicPort,
  host: 'auth.test',
  path,
  headers: { cookie: formatCookies(browser), accept: 'text/html' },
})
const post = (browser: Browser, path: string, body: string, type = 'application/x-www-form-urlencoded'): Input => {
  const { headers, ...input } = at(browser, path)
  return { ...input, method: 'POST', headers: { ...headers, origin: 'http://auth.test', 'content-type': type }, body }
}

async function expectCheapFields(browser: Browser, path: string, fields: Record<string, string | string[]>) {
  for (const name of Object.keys(fields).filter((one) => one !== 'version')) {
    const others = Object.entries(fields).flatMap(([other, value]) =>
      [value].flat().map((text): [string, string] => [other, text]),
    )
    const form = new URLSearchParams(others.filter(([other]) => other !== name))
    const length = IN_FORM - `${form}`.length - name.length
    const raw = (text: string) => post(browser, path, `${form}&${text}`)
    const sent = (text: string) => raw(`${name}=${encoded(text, length)}`)
    await expectCheap(`POST ${path}, ${name}`, sent, length)
    await expectCheap(`POST ${path}, ${name}`, raw, length, repeated(name))
  }
}

describe('in the portal', () => {
  const { pathname } = new URL(portal)
  const formNames = Object.entries(listForms('{team}', '{app}', '{client}', '{delivery}', '{person}', '{provider}'))
  it.each(formNames.filter(([, fields]) => Object.keys(fields).length > 0))(
    'no field of %s costs 20 ms more than an ordinary one',
    async (name) => {
      const { ids } = one.world
      const known: Record<string, string> = {
        ...ids,
        client: one.client,
        delivery: one.delivery,
        person: one.colleague,
      }
      const named = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, word) => known[word]!)
      const fields = listForms(ids.team, ids.app, one.client, one.delivery, one.colleague, ids.provider)[named(name)]!
      const more = {
        ...fields,
        ...(name.endsWith('/settings') && { postLogoutRedirectUris: '', idTokenAlgorithm: '' }),
      }
      await expectCheapFields(one.asOwner, pathname + named(name), more)
    },
  )

  it('no form costs 20 ms more than an ordinary one', async () => {
    const { ids } = one.world
    const path = `${pathname}/teams/${ids.team}/apps/${ids.app}/clients/create`
    await expectCheap('a form, the body', (text) => post(one.asOwner, path, text), IN_FORM)
  })

  it('no field of a stored value costs 20 ms more than an ordinary one', async () => {
    const { ids } = one.world
    const path = `${pathname}/teams/${ids.team}/apps/${ids.app}/data/${one.club}/shared/c/k`
    await expectCheapFields(one.asOwner, `${path}/save`, { etag: '""', value: '1' })
  })

  it('no parameter of a page costs 20 ms more than an ordinary one', async () => {
    const { ids } = one.world
    for (const page of listPages(ids.team, ids.app, one.client, one.delivery).filter((page) => !/remove$/.test(page))) {
      for (const name of READ[page.split('/').at(-1)!] ?? ['done']) {
        const input = (text: string) => at(one.asOwner, withParameter(pathname + page, name, text, IN_QUERY))
        await expectCheap(`${page}, ${name}`, input, IN_QUERY)
      }
      const query = (text: string) => at(one.asOwner, asPath(`${pathname}${page}?${text.slice(0, IN_QUERY)}`))
      if (page.endsWith('/requests')) await expectCheap(`${page}, the query`, query, IN_QUERY)
    }
  })

  it('no upload costs 20 ms more than an ordinary one', async () => {
    const path = `${pathname}/teams/${one.world.ids.team}/apps/${one.world.ids.app}/settings/logo`
    const upload = (body: string, boundary = 'x') =>
      post(one.asOwner, path, body, `multipart/form-data; boundary=${boundary}`)
    const part = (head: string, content: string) => `--x\r\n${head}\r\n\r\n${content}\r\n--x--\r\n`
    const field = 'Content-Disposition: form-data; name="version"'
    const wholes: Record<string, (text: string) => string> = {
      'the body': (text) => text,
      'a field': (text) => part(field, text),
      'a disposition': (text) => part(`Content-Disposition: form-data; ${text}`, '0'),
      'a name': (text) => part(`Content-Disposition: form-data; name="${text}"`, '0'),
      'a file name': (text) => part(`Content-Disposition: form-data; name="picture"; filename="${text}"`, '0'),
      'a head': (text) => part(`${field}\r\n${text}`, '0'),
      'a type': (text) => part(`${field}; filename="a"\r\nContent-Type: ${text}`, '0'),
    }
    const parts = {
      ...shapes,
      'small parts': (length: number) => `--x\r\n${field}\r\n\r\n0\r\n`.repeat(Math.floor(length / 58)),
      boundaries: (length: number) => '--x\r\n'.repeat(length / 5),
      'boundaries that begin': (length: number) => '\r\n--'.repeat(length / 4),
      'heads of one letter': (length: number) => 'a:\r\n'.repeat(length / 4),
    }
    for (const [what, makeBody] of Object.entries(wholes)) {
      await expectCheap(`an upload, ${what}`, (text) => upload(makeBody(text)), 16_000, parts)
    }
    await expectCheap('an upload, the boundary', (text) => upload('a', encoded(text, IN_QUERY)), IN_QUERY)
  })
})

/** The parameters that a page reads. */
const READ: Readonly<Record<string, readonly string[]>> = {
  requests: ['client', 'before', 'after', 'member', 'status', 'route', 'id'],
  deliveries: ['type', 'subscription', 'state', 'offset', 'done'],
  usage: ['by', 'client'],
  audit: ['offset'],
}

describe('at the authorization server', () => {
  it.each(['pick', 'email', 'code', 'person'])(
    'no field of the step %s costs 20 ms more than an ordinary one',
    async (step) => {
      const fields = { member: 'a', email: 'a@example.org', code: '1', person: 'a' }
      await expectCheapFields(one.visitor, `${one.signIn}/${step}`, fields)
    },
  )

  it('no field of a consent costs 20 ms more than an ordinary one', async () => {
    const fields = { organisation: 'a', scope: ['svc.me.profile:read'], decision: 'allow', ask: 'a' }
    await expectCheapFields(one.member, `${one.consent}/consent`, fields)
  })

  const decisions = ['club', 'family'].flatMap((page) =>
    ['approve', 'refuse', 'withdraw'].map((act) => `${page}/${act}`),
  )
  it.each([...decisions, 'connected/withdraw'])(
    'no field of %s costs 20 ms more than an ordinary one',
    async (page) => {
      const fields = { club: 'a', app: 'a', child: 'a', version: '1', reason: 'a', consent: 'a' }
      await expectCheapFields(one.member, `/v1/oauth/${page}`, fields)
    },
  )
})
