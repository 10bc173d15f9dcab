import fc from 'fast-check'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { seed } from '../support/chance.ts'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import { externalWorld } from './external-world.ts'
import type { Answer } from './loopback-issuer.ts'
import { hang, loopbackIssuer, status, text } from './loopback-issuer.ts'

const notValid = { status: 401, body: { error: { code: 'invalid_token', message: 'This token is not valid.' } } }
const unavailable = { status: 503, headers: { 'retry-after': '2' }, body: { error: { code: 'unavailable' } } }
const listStatuses = (replies: { status: number }[]) => [...new Set(replies.map(({ status }) => status))]
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

describe('known keys work, unknown ones return 503, and both work afterwards without a restart', () => {
  // Two of them never respond. A busy machine may need more than one attempt to read the keys in this time.
  const made = started(
    async () => {
      const ends: (() => Promise<unknown>)[] = []
      return { ...(await externalWorld({ issuerMs: 1_000, atEnd: (end) => ends.push(end) })), ends }
    },
    async ({ ends }) => {
      for (const end of ends) await end()
    },
  )

  it.each(troubles)('while the issuer %s', async (_, trouble) => {
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
    expect(listStatuses(replies)).toEqual([200])
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
    expect(listStatuses(replies)).toEqual([expected])
    expect(issuer.requests).toHaveLength(asked)
    expect(await ask(await token({}, {}, key))).toMatchObject({ status: 200 })
  })

  it("cause a read also when the database's clock has gone back since one failed", async () => {
    const { issuer, world, ask, token } = await externalWorld({ intervals: { unknownKeyMs: 0, retryMs: 600_000 } })
    const added = await issuer.addKey()
    issuer.answer(status(500))
    expect(await ask(await token({}, {}, added))).toMatchObject({ status: 503 })
    issuer.answer(null)
    world.advance(-3_600)
    expect(await ask(await token({}, {}, added))).toMatchObject({ status: 200 })
  })

  it('share one slow read', async () => {
    const { issuer, ask } = await externalWorld()
    await issuer.addKey()
    issuer.requests.length = 0
    const slow: Answer = (response) => void setTimeout(() => text(JSON.stringify(issuer.keySet()))(response), 300)
    issuer.answer(slow, new URL(issuer.jwksUrl).pathname)
    const replies = await Promise.all(Array.from({ length: 50 }, () => ask()))
    expect([listStatuses(replies), issuer.requests.length]).toEqual([[200], 2])
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

type Given = Parameters<typeof externalWorld>[0]

async function generateKey(alg: string) {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { alg, privateKey, jwk: await exportJWK(publicKey) }
}
type Key = Awaited<ReturnType<typeof generateKey>>

/** One takes 150 ms of CPU to make. */
const rsaKeys = Promise.all(['RS256', 'RS256', 'RS256'].map(generateKey))

/** A service whose issuer publishes these keys as they are. */
async function startIssuerWorld(published: () => object[], given: Given = {}) {
  const issuer = await loopbackIssuer()
  const publish = () => issuer.answer(text(JSON.stringify({ keys: published() })), new URL(issuer.jwksUrl).pathname)
  publish()
  const lines: string[] = []
  const made = await externalWorld({ issuer, onLog: (line) => lines.push(line), ...given })
  const { world } = made
  const token = (key: Key, header: object = {}, claims: object = {}) =>
    new SignJWT({
      sub: world.ids.member,
      organisation: world.ids.club,
      client_id: world.ids.client,
      scope: '',
      iss: issuer.issuer,
      aud: 'https://api.example.org',
      iat: world.now(),
      exp: world.now() + 3_600,
      jti: crypto.randomUUID(),
      ...claims,
    })
      .setProtectedHeader({ alg: key.alg, typ: 'at+jwt', ...header })
      .sign(key.privateKey)
  const ask = async (key: Key, header?: object, claims?: object) => made.ask(await token(key, header, claims))
  const refusals = () =>
    lines.filter((line) => line.includes('no published key matches')).map((line) => JSON.parse(line))
  return { ...made, publish, ask, refusals }
}

describe('an issuer whose keys have no kid', () => {
  it('is verified with each that fits, and an expired token says so', async () => {
    const [one, other] = await rsaKeys
    const keys = [one!, other!, await generateKey('ES256'), await generateKey('ES256')]
    const { ask, refusals, world } = await startIssuerWorld(() => keys.map(({ jwk }) => jwk))
    for (const key of keys) expect((await ask(key)).status).toBe(200)
    for (const key of keys) {
      const { status, body } = await ask(key, {}, { exp: world.now() - 60 })
      expect([status, body.error.message]).toEqual([401, 'This token has expired.'])
      expect((await ask(key, {}, { aud: 'other' })).status).toBe(401)
    }
    expect(refusals()).toEqual([])
  })

  it('may name two keys alike', async () => {
    const keys = [await generateKey('ES256'), await generateKey('ES256')]
    const { ask } = await startIssuerWorld(() => keys.map(({ jwk }) => ({ ...jwk, kid: 'one' })))
    for (const key of keys) {
      expect((await ask(key, { kid: 'one' })).status).toBe(200)
      expect((await ask(key)).status).toBe(200)
    }
  })

  it('may rotate them: a signature of no known key reads them again', async () => {
    const keys = [await generateKey('ES256')]
    const { ask, publish, issuer } = await startIssuerWorld(() => keys.map(({ jwk }) => jwk))
    expect((await ask(keys[0]!)).status).toBe(200)
    keys.unshift(await generateKey('ES256'))
    publish()
    expect((await ask(keys[0]!)).status).toBe(200)
    keys.shift()
    await issuer.down()
    expect((await ask(await generateKey('ES256'))).status).toBe(503)
    expect((await ask(keys[0]!)).status).toBe(200)
  })

  it('is not asked again for each strange token', async () => {
    const key = await generateKey('ES256')
    const { ask, issuer } = await startIssuerWorld(() => [key.jwk], { intervals: { unknownKeyMs: 600_000 } })
    const before = issuer.requests.length
    const stranger = await generateKey('ES256')
    for (let i = 0; i < 20; i++) expect((await ask(stranger)).status).toBe(401)
    expect(issuer.requests.length).toBe(before)
  })
})

describe('tokens that none of the keys has signed', () => {
  it('are a line of the log at most once a minute, with their number', async () => {
    const keys = [await generateKey('ES256'), await generateKey('ES256')]
    const { ask, refusals, world } = await startIssuerWorld(() => keys.map(({ jwk }) => jwk), {
      intervals: { unknownKeyMs: 600_000 },
    })
    const stranger = await generateKey('ES256')
    for (const header of [{}, { kid: 'unknown' }, {}]) expect((await ask(stranger, header)).status).toBe(401)
    expect(refusals()).toEqual([expect.objectContaining({ refused: 1, level: 40, reason: expect.any(String) })])
    world.advance(59)
    await ask(stranger)
    expect(refusals()).toHaveLength(1)
    world.advance(1)
    await ask(stranger)
    expect(refusals()).toEqual([expect.anything(), expect.objectContaining({ refused: 4 })])
    for (const claims of [{ aud: 'other' }, { exp: 1 }, { iss: 'https://elsewhere.example' }]) {
      world.advance(60)
      await ask(keys[0]!, {}, claims)
    }
    expect(refusals()).toHaveLength(2)
  })
})

it('any set of keys verifies the tokens of each, with and without names, and of no other', async () => {
  const others = await Promise.all(['ES256', 'ES256', 'ES384', 'Ed25519'].map(generateKey))
  const pool = [...(await rsaKeys), ...others]
  let published: object[] = []
  const made = await startIssuerWorld(() => (published.length > 0 ? published : [pool[0]!.jwk]))
  const stranger = await generateKey('ES256')
  const entry = fc.record({
    at: fc.nat({ max: pool.length - 1 }),
    kid: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    named: fc.boolean(),
    alg: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(entry, { minLength: 1, maxLength: 5, selector: ({ at }) => at }),
      async (entries) => {
        published = entries.map(({ at, kid, alg }) => ({
          ...pool[at]!.jwk,
          ...(kid !== undefined && { kid }),
          ...(alg && { alg: pool[at]!.alg, use: 'sig' }),
        }))
        made.publish()
        // Unknown, so the set is read again.
        expect((await made.ask(stranger)).status).toBe(401)
        const absent = pool.filter((_, at) => !entries.some((one) => one.at === at))
        for (const other of absent) expect((await made.ask(other)).status).toBe(401)
        for (const { at, kid, named } of entries) {
          const header = named && kid !== undefined ? { kid } : {}
          expect((await made.ask(pool[at]!, header)).status).toBe(200)
        }
      },
    ),
    { numRuns: times(200, 10), seed },
  )
})
