import { describe, expect, it } from 'vitest'
import { times } from '../support/rounds.ts'
import { externalWorld } from './external-world.ts'
import type { Answer } from './loopback-issuer.ts'
import { hang, loopbackIssuer, status, text } from './loopback-issuer.ts'

const notValid = { status: 401, body: { error: { code: 'invalid_token', message: 'This token is not valid.' } } }
const unavailable = { status: 503, headers: { 'retry-after': '2' }, body: { error: { code: 'unavailable' } } }
const statusesOf = (replies: { status: number }[]) => [...new Set(replies.map(({ status }) => status))]
type World = Awaited<ReturnType<typeof externalWorld>>

/** Faults of an issuer; each lasts until `answer(null)` and `up()`. */
const troubles: [string, (world: World) => unknown][] = [
  ['does not listen', ({ issuer }) => issuer.down()],
  ['does not respond', ({ issuer }) => issuer.answer(hang)],
  ['cuts connections', ({ issuer }) => issuer.answer(({ socket }) => void socket!.destroy())],
  ['stops halfway', ({ issuer }) => issuer.answer((response) => void response.writeHead(200).write('{'))],
  ['returns 500', ({ issuer }) => issuer.answer(status(500))],
  ['returns HTML', ({ issuer }) => issuer.answer(text('<html>'))],
  ['has no keys', ({ issuer }) => issuer.answer(text('{"keys":[]}'), new URL(issuer.jwksUrl).pathname)],
  ['names another issuer', wrongIssuer],
  ['redirects to its keys', redirected],
  ['names a keys URL without TLS', ({ issuer }) => unsafe(issuer, 'http://keys.example.org/jwks')],
  [
    'names a data: URL with its keys',
    ({ issuer }) => unsafe(issuer, `data:,${encodeURIComponent(JSON.stringify(issuer.keySet()))}`),
  ],
  ['sends too much', oversized],
]

function oversized({ issuer }: World) {
  const answer = text(JSON.stringify({ ...issuer.keySet(), more: 'x'.repeat(300_000) }))
  issuer.answer(answer, new URL(issuer.jwksUrl).pathname)
}

function wrongIssuer({ issuer }: World) {
  const document = { issuer: `${issuer.issuer}/`, jwks_uri: issuer.jwksUrl }
  issuer.answer(text(JSON.stringify(document)), issuer.documentPath)
}

/** Redirects to an address that would return the keys. */
function redirected({ issuer }: World) {
  issuer.answer(text(JSON.stringify(issuer.keySet())), '/elsewhere')
  issuer.answer(status(302, { location: '/elsewhere' }), new URL(issuer.jwksUrl).pathname)
}

const unsafe = (issuer: World['issuer'], jwks_uri: string) =>
  issuer.answer(text(JSON.stringify({ issuer: issuer.issuer, jwks_uri })), issuer.documentPath)

async function mend({ issuer }: World) {
  for (const path of ['*', issuer.documentPath, new URL(issuer.jwksUrl).pathname]) issuer.answer(null, path)
  await issuer.up()
}

describe.each(troubles)('while the issuer %s', (_, trouble) => {
  it('known keys work, unknown ones return 503, and both work afterwards without a restart', async () => {
    // Two of them never respond. A busy machine may need more than one attempt to read the keys in this time.
    const made = await externalWorld({ issuerMs: 1_000 })
    const { issuer, world, ask, token } = made
    const [first] = issuer.keys()
    const works = (key = first) =>
      expect
        .poll(async () => {
          world.advance(5)
          return (await ask(await token({}, {}, key))).status
        })
        .toBe(200)
    await works()
    const added = await issuer.addKey()
    await trouble(made)

    const replies = []
    for (let minute = 0; minute < 10; minute++) {
      replies.push(await ask(await token({}, {}, first)))
      world.advance(60)
    }
    expect(statusesOf(replies)).toEqual([200])
    for (const path of ['/', '/quizzes/x/results', '/apps/x/webhook']) {
      const method = path.startsWith('/quizzes') ? 'POST' : 'GET'
      expect(await world.call(method, path, { token: await token({}, {}, added) })).toMatchObject(unavailable)
    }
    const headers = { authorization: `Bearer ${await token({}, {}, added)}` }
    expect(await world.internal('GET', '/trpc/root', { headers })).toMatchObject({ status: 503 })
    expect(await ask(await token({ iss: 'https://elsewhere.example' }, {}, added))).toMatchObject(notValid)

    await mend(made)
    await works(added)
  })
})

describe('tokens with an unknown key', () => {
  it.each<[string, Answer | null, number, number, number]>([
    ['that has been read', null, 600_000, 401, 0],
    ['that fails', status(500), 0, 503, 2],
  ])('cause at most one read of the keys, however many there are: from an issuer %s', async (...given) => {
    const [, answer, unknownKeyMs, expected, asked] = given
    const { issuer, ask, token } = await externalWorld({ intervals: { unknownKeyMs, retryMs: 600_000 } })
    const [key] = issuer.keys()
    issuer.answer(answer)
    issuer.requests.length = 0
    const unknown = () => token({}, { kid: crypto.randomUUID() }, key)
    const replies = await Promise.all(Array.from({ length: 100 }, async () => ask(await unknown())))
    for (let one = 0; one < times(100, 10); one++) replies.push(await ask(await unknown()))
    expect(statusesOf(replies)).toEqual([expected])
    expect(issuer.requests).toHaveLength(asked)
    expect(await ask(await token({}, {}, key))).toMatchObject({ status: 200 })
  })

  it('share one slow read', async () => {
    const { issuer, ask } = await externalWorld()
    await issuer.addKey()
    issuer.requests.length = 0
    const slow: Answer = (response) => void setTimeout(() => text(JSON.stringify(issuer.keySet()))(response), 300)
    issuer.answer(slow, new URL(issuer.jwksUrl).pathname)
    const replies = await Promise.all(Array.from({ length: 50 }, () => ask()))
    expect([statusesOf(replies), issuer.requests.length]).toEqual([[200], 2])
  })
})

describe('a change of keys', () => {
  it('is found in the background: tokens of a withdrawn key return 401, cached or not', async () => {
    const { issuer, ask, token } = await externalWorld({ intervals: { reloadMs: 50 } })
    const [old] = issuer.keys()
    const remembered = await token({}, {}, old)
    expect(await ask(remembered)).toMatchObject({ status: 200 })
    const added = await issuer.addKey()
    expect(await ask(await token({}, {}, added))).toMatchObject({ status: 200 })
    issuer.withdraw(old!.kid)
    await expect.poll(() => ask(remembered)).toMatchObject(notValid)
    expect(await ask(await token({}, {}, old))).toMatchObject(notValid)
    expect(await ask(await token({}, {}, added))).toMatchObject({ status: 200 })
  })
})

describe('keys are found', () => {
  it.each<[string, Parameters<typeof loopbackIssuer>[0]]>([
    ["below the issuer, in OpenID's document", {}],
    ['in the document of RFC 8414, of an issuer with a path', { place: 'oauth-authorization-server' }],
    ['in the document of RFC 8414, of one without', { place: 'oauth-authorization-server', path: '' }],
  ])('%s', async (_, where) => {
    const { ask } = await externalWorld({ issuer: await loopbackIssuer(where) })
    expect(await ask()).toMatchObject({ status: 200 })
  })

  it('only at TOKEN_JWKS_URL if it is set', async () => {
    const issuer = await loopbackIssuer()
    const { ask } = await externalWorld({ issuer, settings: { jwksUrl: issuer.jwksUrl } })
    expect(await ask()).toMatchObject({ status: 200 })
    expect(issuer.requests).toEqual([new URL(issuer.jwksUrl).pathname])
  })
})
