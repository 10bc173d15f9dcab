import { createHmac } from 'node:crypto'
import { exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { useWorld } from '../support/started.ts'
import { startWorld } from '../support/world.ts'

const world = useWorld()

const notValid = { status: 401, body: { error: { code: 'invalid_token', message: 'This token is not valid.' } } }
const metadata = 'resource_metadata="http://apps.test/.well-known/oauth-protected-resource/v1"'
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('a bearer token', () => {
  it.each(['Bearer', 'bearer', 'BEARER'])('is accepted with the scheme %s', async (scheme) => {
    const authorization = `${scheme} ${await world.token()}`
    expect(await world.call('GET', '/', { token: null, headers: { authorization } })).toMatchObject({ status: 200 })
  })

  it('is ignored in the query', async () => {
    const reply = await world.call('GET', `/?access_token=${await world.token()}`, { token: null })
    expect(reply).toMatchObject(notValid)
    expect(reply.headers['www-authenticate']).toBe(`Bearer realm="member-apps", ${metadata}`)
  })

  it.each([
    ['sub', undefined],
    ['sub', ''],
    ['sub', 7],
    ['organisation', undefined],
    ['organisation', ''],
    ['organisation', ['riverside']],
    ['client_id', undefined],
    ['exp', undefined],
    ['iss', 'https://elsewhere.example'],
    ['iss', undefined],
    ['aud', 'another-api'],
    ['aud', undefined],
    ['scope', ['svc.me.profile:read']],
  ])('returns 401 when %s is %s', async (claim, value) => {
    expect(await world.call('GET', '/', { token: await world.token({ [claim]: value }) })).toMatchObject(notValid)
  })

  it('returns 401 unless its typ is at+jwt', async () => {
    for (const typ of ['JWT', undefined]) {
      const token = await world.token({}, undefined, { typ })
      expect(await world.call('GET', '/', { token })).toMatchObject(notValid)
    }
  })

  it('returns 401 when another key signed it', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    expect(await world.call('GET', '/', { token: await world.token({}, privateKey) })).toMatchObject(notValid)
  })

  it('returns 401 when it is unsigned, signed with HS256 or by an RSA key with a known kid', async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    const claims = {
      sub: world.ids.member,
      organisation: world.ids.club,
      client_id: world.ids.client,
      exp: world.now() + 60,
    }
    const unsigned = `${base64url({ alg: 'none', typ: 'at+jwt' })}.${base64url(claims)}.`
    const head = `${base64url({ alg: 'HS256', typ: 'at+jwt' })}.${base64url(claims)}`
    const confused = `${head}.${createHmac('sha256', await exportSPKI(publicKey))
      .update(head)
      .digest('base64url')}`
    const foreign = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'test' })
      .sign(privateKey)
    for (const token of [unsigned, confused, foreign]) {
      expect(await world.call('GET', '/', { token })).toMatchObject(notValid)
    }
  })

  it('expires in the second of its exp, even if it was accepted before', async () => {
    const own = await startWorld()
    const token = await own.token({ exp: own.now() + 30 })
    expect(await own.call('GET', '/', { token })).toMatchObject({ status: 200 })
    own.advance(30)
    expect(await own.call('GET', '/', { token })).toMatchObject({
      status: 401,
      headers: {
        'www-authenticate': `Bearer error="invalid_token", error_description="This token has expired.", ${metadata}`,
      },
      body: { error: { code: 'invalid_token', message: 'This token has expired.' } },
    })
    await own.close()
  })

  it('matches whole, case-sensitive scopes: :update does not imply :read', async () => {
    const get = (path: string, scope: string) => world.call('GET', path, { claims: { scope } })
    for (const scope of [
      'svc.me.profile',
      'SVC.ME.PROFILE:READ',
      'svc.me.profile:read,svc.me.groups:read',
      'svc.me.*',
    ]) {
      expect(await get('/me/profile', scope)).toMatchObject({ status: 403 })
    }
    expect(await get(`/apps/${world.ids.app}/webhook`, 'ntf.apps.webhook:update')).toMatchObject({ status: 403 })
    expect(await get('/me/profile', 'a svc.me.profile:read b')).toMatchObject({ status: 200 })
  })
})

describe('access to a section', () => {
  it('follows changes of membership, level, app and client within 5 seconds', async () => {
    const own = await startWorld()
    const { db, ids } = own
    const statuses = async () => {
      own.advance(5)
      const replies = [
        await own.call('GET', '/'),
        await own.call('GET', '/me/profile'),
        await own.call('GET', '/storage/c'),
        await own.call('GET', `/apps/${ids.app}/webhook`),
      ]
      return replies.map(({ status }) => status)
    }
    expect(await statuses()).toEqual([200, 200, 200, 200])

    await db.membership.updateMany({ where: { personId: ids.member }, data: { leftAt: new Date(own.now() * 1000) } })
    expect(await statuses()).toEqual([200, 404, 404, 404])

    await db.membership.updateMany({ where: { personId: ids.member }, data: { leftAt: null } })
    await db.team.update({ where: { id: ids.team }, data: { level: 'hobby' } })
    expect(await statuses()).toEqual([200, 200, 200, 403])

    await db.client.update({ where: { id: ids.client }, data: { appId: null } })
    expect(await statuses()).toEqual([200, 200, 403, 403])

    await db.client.delete({ where: { id: ids.client } })
    expect(await statuses()).toEqual([401, 401, 401, 401])
    await own.close()
  })
})

describe('BRAND', () => {
  it('appears in the message for clients without an app only', async () => {
    const own = await startWorld({ brand: 'Clubhouse' })
    await own.db.client.update({ where: { id: own.ids.client }, data: { appId: null } })
    expect((await own.call('GET', '/storage/c')).body).toEqual({ detail: 'This client is not a Clubhouse app.' })
    expect((await own.call('GET', '/me/events?start=0&end=99999999')).body).toEqual({
      detail: 'Send start and end as a range of at most a the service.',
    })
    await own.close()
  })
})

describe('a request that breaks every rule', () => {
  it('is refused in the documented order', async () => {
    const { db, ids } = world
    const hobby = { client: `order-${ids.client}`, scope: 'svc.apps.storage:write' }
    await db.client.create({ data: { id: hobby.client, name: 'No app', teamId: ids.team, environment: 'production' } })
    const path = '/storage/a.b/k?scope=club'
    const wrong = { headers: { 'content-type': 'text/plain', 'if-match': '"x"' }, body: 'nothing' }
    const put = (options: object, at = path) => world.call('PUT', at, { ...wrong, ...options })
    const left = { sub: 'someone-else' }

    const order = [
      await put({ host: 'lms.test', token: null }),
      await put({ token: null }, '/storage/a.b/k/more'),
      await put({ token: null }),
      await put({ claims: { ...left, client_id: hobby.client, scope: '' } }),
      await put({ claims: { ...left, client_id: hobby.client } }),
      await put({ claims: left }),
      await put({}),
      await put({}, '/storage/a/k?scope=club'),
      await put({}, '/storage/a/k'),
      await put({ headers: { 'if-match': '"x"' } }, '/storage/a/k'),
      await put({ headers: { 'if-match': '"x"' }, body: { value: 1 } }, '/storage/a/k'),
      await put({ headers: {}, body: { value: 1 } }, '/storage/a/k'),
    ]
    expect(order.map(({ status, body }) => [status, body?.detail ?? body?.error?.message])).toEqual([
      [404, 'This API answers at apps.test.'],
      [404, 'There is nothing at this address.'],
      [401, 'This token is not valid.'],
      [403, 'This token does not carry the svc.apps.storage:write scope.'],
      [403, 'This client is not a the service app.'],
      [404, 'This member does not exist in this club.'],
      [422, "Names use 1 to 64 letters, digits, '_' or '-'."],
      [422, 'scope is org or user.'],
      [415, 'Send the body as application/json.'],
      [400, 'The body is not valid JSON.'],
      [412, 'This entry has changed.'],
      [200, undefined],
    ])
  })

  it.each([
    ['POST', '/quizzes/q/results', 'lms.me.quizzes:write'],
    ['PUT', '/apps/a.b/webhook', 'ntf.apps.webhook:update'],
  ])(
    'is refused for its scope before the level, and for the level before the member: %s %s',
    async (method, path, scope) => {
      const { db, ids } = world
      const client = `hobby-${scope}-${ids.client}`
      await db.team.create({ data: { id: client, name: 'Hobby', level: 'hobby' } })
      await db.client.create({ data: { id: client, name: 'Hobby', teamId: client, environment: 'production' } })
      const readRefusal = async (claims: object) => {
        const { status, body } = await world.call(method, path, {
          claims: { sub: 'someone-else', ...claims },
          body: '{',
        })
        return [status, body.error.message]
      }
      expect(await readRefusal({ client_id: client, scope: 'svc.me.profile:read' })).toEqual([
        403,
        `This token does not carry the ${scope} scope.`,
      ])
      expect(await readRefusal({ client_id: client })).toEqual([
        403,
        'The Developer membership is needed for this API.',
      ])
      expect(await readRefusal({})).toEqual([404, expect.stringMatching(/^This member does not exist in this/)])
    },
  )
})
