import { describe, expect, it } from 'vitest'
import { demo } from '../../prisma/demo.ts'
import type { Registration } from '../../routers/developer/shared/registration.ts'
import { findFaults, levelFaults, redirectFault } from '../../routers/developer/shared/registration.ts'
import { fault, formatSentence } from '../../routers/developer/shared/validation.ts'
import { isAllowedAt, memberScopes, memberScopesAt } from '../../routers/kernel/scopes.ts'
import { requestableScopes } from '../../server/oauth/consents/authorize-scopes.ts'
import { table } from '../support/markdown-table.ts'

/** Whether it may be registered: by web and native apps, each in development and in production. */
const redirects = table<'address' | 'web' | 'native'>(`
| address                                   | web         | native |
|-------------------------------------------|-------------|--------|
| https://app.example.org/                  | yes         | yes    |
| https://app.example.org                   | yes         | yes    |
| https://app.example.org:8443/back?from=1  | yes         | yes    |
| https://app.example.org/a%20b             | yes         | yes    |
| http://127.0.0.1/                         | yes         | yes    |
| http://127.0.0.1:4711/back                | yes         | yes    |
| http://[::1]:4711/back                    | yes         | yes    |
| http://localhost:5173/                    | development | yes    |
| http://example.localhost:3000/            | development | no     |
| https://localhost/                        | yes         | no     |
| https://127.0.0.1/                        | yes         | no     |
| com.example.app:/back                     | no          | yes    |
| com.example.app://back                    | no          | yes    |
| example:/back                             | no          | no     |
| http://app.example.org/                   | no          | no     |
| http://127.0.0.1.example.org/             | no          | no     |
| http://127.0.0.2/                         | no          | no     |
| http://localhost.example.org/             | no          | no     |
| http://notlocalhost/                      | no          | no     |
| http://0.0.0.0/                           | no          | no     |
| http://[::]/                              | no          | no     |
| https://app.example.org/#                 | no          | no     |
| https://app.example.org/#/back            | no          | no     |
| com.example.app:/back#x                   | no          | no     |
| https://*.example.org/                    | no          | no     |
| https://anna@app.example.org/             | no          | no     |
| https://app.example.org@evil.example/     | no          | no     |
| https://:pass@app.example.org/            | no          | no     |
| https:/app.example.org/                   | no          | no     |
| https:app.example.org/                    | no          | no     |
| https:///app.example.org/                 | no          | no     |
| https://                                  | no          | no     |
| https://app.example.org\\@evil.example/   | no          | no     |
| https://app.example.org/a b               | no          | no     |
| https://app.example.org/%zz               | no          | no     |
| https://bücher.example/                   | no          | no     |
| https://app.example.org:99999/            | no          | no     |
| //app.example.org/                        | no          | no     |
| /back                                     | no          | no     |
| app.example.org                           | no          | no     |
| javascript:alert(1)                       | no          | no     |
| data:text/html,x                          | no          | no     |
| file:///etc/passwd                        | no          | no     |
| urn:ietf:wg:oauth:2.0:oob                 | no          | no     |
`)

const good: Registration = {
  id: 'new-client',
  name: 'New',
  type: 'web',
  environment: 'production',
  redirectUris: ['https://app.example.org/'],
  scopes: ['svc.me.profile:read'],
  team: { id: 'team' },
  app: { id: 'app', name: 'Büro & Co. – 日本 🙂', provider: 'provider' },
}

it.each<[string[], string[]]>([
  [['openid'], []],
  [['email', 'profile', 'openid'], []],
  [['profile'], ['profile and email need openid.']],
  [['svc.me.profile:read', 'email'], ['profile and email need openid.']],
  [['openid', 'phone'], ['The scope phone does not exist.']],
  [['openid', 'offline_access'], ['The scope offline_access does not exist.']],
])('scopes of OpenID Connect %j: %j, at every level', (scopes, sentences) => {
  expect(findFaults({ ...good, scopes }, false).map(formatSentence)).toEqual(sentences)
  expect(levelFaults(scopes, 'hobby')).toEqual([])
})

describe('a redirect', () => {
  it.each(redirects)('$address: web $web, native $native', ({ address, web, native }) => {
    const may = (type: 'web' | 'native', development: boolean) => redirectFault(address, type, development) === null
    expect([may('web', false), may('web', true)]).toEqual([web === 'yes', web !== 'no'])
    expect([may('native', false), may('native', true)]).toEqual([native === 'yes', native === 'yes'])
  })

  it.each([' https://app.example.org/', 'https://app.example.org/\n', 'https://app.example.org/\t', ''])(
    'is not changed to fit: %j',
    (address) => expect(redirectFault(address, 'web', true)).not.toBeNull(),
  )

  it('has at most 2048 characters', () => {
    const long = (length: number) => 'https://app.example.org/'.padEnd(length, 'a')
    expect(redirectFault(long(2048), 'web', false)).toBeNull()
    expect(redirectFault(long(2049), 'web', false)).toEqual(fault('redirectUris', 'redirectTooLong'))
  })
})

describe('a registration', () => {
  it('without faults is accepted', () => {
    expect(findFaults(good, false)).toEqual([])
  })

  it.each([
    [{ id: '' }, "The id of the client must be 1 to 64 letters, digits, '_' or '-'."],
    [{ id: 'a.b' }, "The id of the client must be 1 to 64 letters, digits, '_' or '-'."],
    [{ id: 'a'.repeat(65) }, "The id of the client must be 1 to 64 letters, digits, '_' or '-'."],
    [{ team: { id: 'ä' } }, "The id of the team must be 1 to 64 letters, digits, '_' or '-'."],
    [{ app: { id: 'x\n' } }, "The id of the app must be 1 to 64 letters, digits, '_' or '-'."],
    [{ name: 'a\nb' }, 'The name of the client must be 1 to 100 characters on one line.'],
    [{ name: ' ' }, 'The name of the client must be 1 to 100 characters on one line.'],
    [{ name: 'a\u202egnp' }, 'The name of the client has U+202E, which cannot be seen or acts on the text around it.'],
    [{ name: '\ud800' }, 'The name of the client has U+D800, which cannot be seen or acts on the text around it.'],
    [{ name: 'Acme ' }, 'The name of the client begins or ends with white space.'],
    [{ name: '\u3164' }, 'The name of the client has U+3164, which cannot be seen or acts on the text around it.'],
    [
      { name: 'Acme\u200d' },
      'The name of the client has U+200D where it joins nothing: it belongs between letters or emoji.',
    ],
    [{ app: { id: 'x', name: '' } }, 'The name of the app must be 1 to 100 characters on one line.'],
    [
      { team: { id: 'x', name: 'a\u0000' } },
      'The name of the team has U+0000, which cannot be seen or acts on the text around it.',
    ],
    [{ redirectUris: [] }, 'A client needs a redirect URI, unless it signs in on devices.'],
    [{ redirectUris: ['/'] }, '/ cannot be a redirect URI: it is not an absolute URI.'],
    [{ scopes: [] }, 'A client needs a scope.'],
    [{ scopes: ['SVC.me.profile:read'] }, 'The scope SVC.me.profile:read does not exist.'],
    [{ scopes: ['__proto__'] }, 'The scope __proto__ does not exist.'],
  ])('with %j says so', (change, sentence) => {
    expect(findFaults({ ...good, ...change }, false).map(formatSentence)).toEqual([sentence])
  })

  it.each(['localhost:5210', 'localhost/', 'app.example', 'app.example/back?a', '127.0.0.1:80/', 'host:80'])(
    'with the redirect URI %s asks for the scheme',
    (uri) => {
      expect(findFaults({ ...good, redirectUris: [uri] }, true).map(formatSentence)).toEqual([
        `${uri} cannot be a redirect URI: it has no scheme: write http:// or https:// before it.`,
      ])
    },
  )

  it('names all of its faults at once', () => {
    const faults = findFaults({ ...good, id: '.', scopes: ['x'], redirectUris: ['/', 'http://a.example/'] }, true)
    expect(faults).toHaveLength(4)
  })
})

describe('the scopes of a client', () => {
  const all = memberScopes
  const developers = ['lms.me.quizzes:read', 'lms.me.quizzes:write', 'ntf.apps.webhook:update', 'ntf.apps.webhook:read']

  it('of lms and notify need a team of level developer', () => {
    expect(all.filter((scope) => !isAllowedAt('hobby', scope))).toEqual(developers)
    expect(levelFaults(all, 'developer')).toEqual([])
    expect(levelFaults(all, 'hobby').map(formatSentence)).toEqual(
      developers.map((scope) => `${scope} is only for teams with the Developer level.`),
    )
  })

  it('are the registered ones that exist and that the present level of its team allows', () => {
    const registered = ['lms.me.quizzes:write', 'svc.me.groups:read', 'constructor', 'gone:read', 'svc.me.profile:read']
    const of = (level: 'hobby' | 'developer') => requestableScopes(registered, level)
    expect(of('hobby')).toEqual(['svc.me.groups:read', 'svc.me.profile:read'])
    expect(of('developer')).toEqual(['lms.me.quizzes:write', 'svc.me.groups:read', 'svc.me.profile:read'])
  })

  it('are all that its level allows in the demo data', () => {
    const { client, team } = demo(new Date(0), memberScopesAt)
    const levels = new Map(team.map(({ id, level }) => [id, level]))
    for (const { id, teamId, scopes: registered } of client) {
      if (teamId === null) continue
      const allowed = all.filter((scope) => isAllowedAt(levels.get(teamId)!, scope))
      expect([id, registered]).toEqual([
        id,
        id === 'example-app' ? allowed.filter((s) => s.startsWith('svc.')) : allowed,
      ])
    }
  })
})
