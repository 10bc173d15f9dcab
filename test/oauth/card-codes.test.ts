import { createLocalJWKSet, decodeProtectedHeader, importJWK, jwtVerify, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { deleteRetiredKeys, readKeys, rotateOldKeys } from '../../server/oauth/keys/signing-key-store.ts'
import { MAX_CHECKS } from '../../server/oauth/pages/cards.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { id } from '../support/tenant.ts'
import { authBaseUrl, startWorld } from '../support/world.ts'
import { issuer, twoNodes } from './auth-world.ts'
import { Browser } from './browser.ts'

const { here, there } = twoNodes()

const DAY = 86_400
const scope = 'svc.me.membercard:read'
const plain = (days: number) => new Date((here.world.now() + days * DAY) * 1000).toISOString().slice(0, 10)

/** A member of a club with a card of their own. */
async function newHolder(card: { validUntil?: string | null; status?: string; serial?: string; name?: string } = {}) {
  const { db } = here.world
  const [member, club] = [id('holder'), id('club')]
  await db.person.create({ data: { id: member, firstName: 'Anna', lastName: 'Ahlers', email: '' } })
  await db.organisation.create({ data: { id: club, kind: 'club', name: 'Riverside' } })
  await db.membership.create({ data: { organisationId: club, personId: member } })
  const { validUntil = plain(99), status = 'valid', serial = id('C'), name = 'Anna Ahlers' } = card
  const issue = (serial: string, issuedAt: Date) =>
    db.memberCard.create({
      data: {
        serial,
        clubId: club,
        personId: member,
        status,
        name,
        issuedAt,
        memberNumber: '1042',
        departments: [],
        validUntil: validUntil === null ? null : new Date(validUntil),
      },
    })
  await issue(serial, new Date('2026-01-01'))
  const claims = { sub: member, organisation: club, scope }
  const getCode = () => here.world.call('GET', '/membercard/code', { api: 'sync', claims })
  return { member, club, serial, claims, issue, getCode }
}

const published = async (at = authBaseUrl.replace('/v1', '')) =>
  (await here.app.get(`${at}/.well-known/membercards`)).json

const open = (url: string, language = 'en') => {
  const browser = new Browser(here.world.publicPort)
  browser.language = language
  return browser.open(url)
}
const readText = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')

describe('GET /membercard/code', () => {
  it('returns a code that jose checks with the published keys alone', async () => {
    const { serial, getCode } = await newHolder()
    const before = here.world.now()
    const { status, body } = await getCode()
    expect([status, Object.keys(body).sort()]).toEqual([200, ['code', 'url', 'validUntil']])
    expect(body.url).toBe(`${authBaseUrl}/card/${body.code}`)
    expect(body.url.length).toBeLessThanOrEqual(400)
    const { payload, protectedHeader } = await jwtVerify(body.code, createLocalJWKSet(await published()), {
      typ: 'membercard+jwt',
      algorithms: ['ES256'],
    })
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'membercard+jwt', kid: expect.stringMatching(/^[\w-]{8}$/) })
    const claims = { s: serial, n: 'Anna Ahlers', c: 'Riverside', t: 'valid', e: plain(99) }
    expect(payload).toEqual({ ...claims, exp: body.validUntil })
    expect(body.validUntil - before).toBeGreaterThanOrEqual(DAY)
    expect(body.validUntil - before).toBeLessThanOrEqual(DAY + 2)
  })

  it.each([
    ['is not valid', { status: 'suspended' }],
    ['has ended', { validUntil: '2026-01-01' }],
    ['has no end', { validUntil: null }],
  ])('returns 404 for a card that %s, and issues none', async (_what, card) => {
    const { getCode, member } = await newHolder(card)
    const { status, body } = await getCode()
    expect([status, body.error]).toMatchObject([404, { code: 'not_found', message: 'This member has no valid card.' }])
    expect(await here.world.db.memberCard.count({ where: { personId: member } })).toBe(1)
  })
})

describe('the keys of codes', () => {
  it('are published for any page, and may be stored for an hour', async () => {
    const { headers, json, status } = await here.app.get(`${authBaseUrl.replace('/v1', '')}/.well-known/membercards`)
    expect([status, headers['access-control-allow-origin'], headers['cache-control']]).toEqual([
      ...[200, '*', 'public, max-age=3600, no-transform'],
    ])
    expect(json.keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        x: expect.any(String),
        y: expect.any(String),
        kid: expect.any(String),
        alg: 'ES256',
        use: 'sig',
      },
    ])
    const again = await here.app.get(`${authBaseUrl.replace('/v1', '')}/.well-known/membercards/v1`, {
      'if-none-match': headers.etag!,
    })
    expect([again.status, again.text]).toEqual([304, ''])
    expect((await here.app.get('http://apps.test/.well-known/membercards')).status).toBe(404)
  })

  it('are none of the keys of tokens', async () => {
    const tokens = (await here.app.get(`${issuer}/jwks`)).json.keys.map(({ kid }: { kid: string }) => kid)
    for (const { kid } of (await published()).keys) expect(tokens).not.toContain(kid)
  })

  it('are published for a day before they sign, and until their last code has expired', async () => {
    const { db, core, secretsKeys } = here.world
    const cipher = createCipher(secretsKeys)
    const at = (days: number) => ({ db, cipher, now: () => core.now() + days * DAY * 1000 })
    const own = async () => (await readKeys({ db, cipher })).filter(({ jwk, kind }) => jwk && kind === 'card')
    const [first] = await own()
    await rotateOldKeys(at(91), 90)
    const [next, ...others] = await own()
    expect(others.map(({ kid }) => kid)).toEqual([first!.kid])
    expect(next!.signsFrom.getTime() - at(92).now()).toBeGreaterThan(-60_000)
    await deleteRetiredKeys(at(93))
    expect(await own()).toHaveLength(2)
    await db.cardKey.delete({ where: { kid: next!.kid } })
    await Promise.all([here, there].map(({ world }) => world.oauth!.reload()))
  })
})

describe('a code and a token', () => {
  it('are not taken for each other', async () => {
    const { getCode, claims, serial } = await newHolder()
    const { code } = (await getCode()).body
    for (const address of ['/me/membercard', '/me/profile']) {
      expect((await here.world.call('GET', address, { token: code })).status).toBe(401)
    }
    const tokens = await here.toTokens(
      { client: here.client, scope: `openid ${scope}` },
      claims.sub,
      claims.organisation,
    )
    for (const token of [tokens.access_token, tokens.id_token]) {
      expect((await open(`${authBaseUrl}/card/${token}`)).status).toBe(404)
    }
    // Nor with the other's key, whatever the type.
    const { db, secretsKeys } = here.world
    const keys = (await readKeys({ db, cipher: createCipher(secretsKeys) })).filter(({ jwk }) => jwk)
    const signed = async (kind: string, typ: string) => {
      const { kid, jwk } = keys.find((key) => key.kind === kind)!
      const exp = here.world.now() + 60
      return new SignJWT({ s: serial, exp, iss: issuer, aud: authBaseUrl, sub: claims.sub, client_id: here.client })
        .setProtectedHeader({ alg: 'ES256', typ, kid })
        .sign(await importJWK(jwk!, 'ES256'))
    }
    for (const token of [await signed('card', 'at+jwt'), await signed('ES256', 'membercard+jwt')]) {
      expect((await here.world.call('GET', '/me/membercard', { token })).status).toBe(401)
      expect((await open(`${authBaseUrl}/card/${token}`)).status).toBe(404)
    }
  })
})

describe('the page of a code', () => {
  it.each([
    ['en', 'This card is valid.', 'Valid until'],
    ['de', 'Diese Karte ist gültig.', 'Gültig bis'],
    ['fr', 'Cette carte est valable.', 'Valable jusqu’au'],
    ['it', 'Questa tessera è valida.', 'Valida fino al'],
    ['nl', 'Deze kaart is geldig.', 'Geldig tot en met'],
    ['es', 'Este carné es válido.', 'Válido hasta'],
  ])(
    'tells a stranger in %s that the card is valid, with name, club and last day alone',
    async (language, valid, until) => {
      const { getCode, serial, member, club } = await newHolder({ validUntil: '2099-12-31' })
      const page = await open((await getCode()).body.url, language)
      expect(page.status).toBe(200)
      const text = readText(page.text)
      for (const part of [valid, until, 'Anna Ahlers', 'Riverside', '2099']) expect(text).toContain(part)
      for (const secret of [serial, member, club, '1042', '<form', 'connected']) expect(page.text).not.toContain(secret)
      expect(page.headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      })
      expect(page.headers['set-cookie']).toBeUndefined()
    },
  )

  it('escapes the names of the card', async () => {
    const { getCode } = await newHolder({ name: '<script>alert(1)</script>' })
    expect((await open((await getCode()).body.url)).text).toContain('<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>')
  })

  it.each<[string, (holder: Awaited<ReturnType<typeof newHolder>>) => Promise<unknown>]>([
    ['was withdrawn', ({ serial }) => here.world.db.memberCard.update({ where: { serial }, data: { status: 'lost' } })],
    [
      'has another end',
      ({ serial }) =>
        here.world.db.memberCard.update({ where: { serial }, data: { validUntil: new Date('2026-01-01') } }),
    ],
    ['was replaced', ({ issue }) => issue(id('C'), new Date('2026-02-01'))],
    [
      'is of a former member',
      ({ member }) =>
        here.world.db.membership.updateMany({ where: { personId: member }, data: { leftAt: new Date(0) } }),
    ],
  ])('tells that a card is not valid now once it %s', async (_what, change) => {
    const holder = await newHolder()
    const { url } = (await holder.getCode()).body
    await change(holder)
    const page = await open(url)
    expect(page.status).toBe(200)
    expect(readText(page.text)).toContain('This card is not valid now.')
    expect(readText(page.text)).toContain('Anna Ahlers')
  })

  it('finds a card by the hash of a long serial, which may have backslashes', async () => {
    for (const serial of [id(`urn:${'x'.repeat(200)}`), `\\x00${id('\\')}`, `~${id('C')}`]) {
      const { getCode } = await newHolder({ serial })
      expect(readText((await open((await getCode()).body.url)).text)).toContain('This card is valid.')
    }
  })

  it('answers alike for codes that are forged, expired, or of a card that no longer exists', async () => {
    const holder = await newHolder()
    const { code, url } = (await holder.getCode()).body
    const [head, claims, signature] = code.split('.')
    const forged = [
      `${head}.${claims}.${'A'.repeat(86)}`,
      `${head}.${Buffer.from('{"s":"C","exp":9999999999}').toString('base64url')}.${signature}`,
      `${Buffer.from('{"alg":"none","typ":"membercard+jwt"}').toString('base64url')}.${claims}.`,
      `${code}A`,
      'x',
      '%00',
      'A'.repeat(5_000),
    ]
    const pages = []
    for (const one of forged) pages.push(await open(`${authBaseUrl}/card/${one}`))
    await here.world.db.memberCard.deleteMany({ where: { serial: holder.serial } })
    pages.push(await open(url))
    const late = (await (await newHolder()).getCode()).body.url
    here.world.advance(DAY + 1)
    pages.push(await open(late))
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([404]))
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    expect(readText(pages[0]!.text)).toContain('This code cannot be checked.')
  })

  it('is checked by every node, with a key that it has not read', async () => {
    const { getCode } = await newHolder()
    const { url } = (await getCode()).body
    const page = await new Browser(there.world.publicPort).open(url)
    expect(readText(page.text)).toContain('This card is valid.')
    expect(decodeProtectedHeader(url.split('/').at(-1)).kid).toBeDefined()
  })

  it('is not in the log, not even at its most detailed', async () => {
    const lines: string[] = []
    const noisy = await startWorld({
      auth: {},
      like: here.world,
      onLog: (line) => void lines.push(line),
      logLevel: 'debug',
    })
    const { url, code } = (await (await newHolder()).getCode()).body
    const browser = new Browser(noisy.publicPort)
    for (const host of ['auth.test', 'apps.test']) await browser.get(url.replace('auth.test', host))
    await browser.post(url, {})
    await noisy.close()
    expect(lines.filter((line) => line.includes('/v1/card/{uid}'))).not.toEqual([])
    expect(lines.filter((line) => line.includes(code.slice(-20)))).toEqual([])
  })

  it('answers no API host, and no other method', async () => {
    const { url } = (await (await newHolder()).getCode()).body
    expect((await here.app.get(url.replace('auth.test', 'apps.test'))).status).toBe(404)
    expect((await here.app.post(url, {})).status).toBe(405)
  })

  it('refuses a network that checks too many', async () => {
    const browser = new Browser(here.world.publicPort)
    browser.localAddress = '127.0.0.77'
    const statuses = []
    for (let at = 0; at <= MAX_CHECKS; at++) statuses.push((await browser.open(`${authBaseUrl}/card/x${at}`)).status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    here.world.advance(61)
    expect((await browser.open(`${authBaseUrl}/card/x`)).status).toBe(404)
  })
})

describe("the page of a member's cards", () => {
  it('asks for a sign-in, then shows each valid card with its QR, and why another has none', async () => {
    const holder = await newHolder()
    const other = await newHolder({ status: 'lost' })
    const { db } = here.world
    await db.membership.create({ data: { organisationId: other.club, personId: holder.member } })
    await db.memberCard.update({ where: { serial: other.serial }, data: { personId: holder.member } })
    const browser = here.newBrowser()
    const form = await browser.open(`${issuer}/card`)
    expect(readText(form.text)).toContain('to see your member cards')
    const page = await browser.submit(form, 'pick', { member: holder.member })
    expect([page.url.pathname, page.status]).toEqual(['/v1/oauth/card', 200])
    expect(page.text.match(/<figure[^>]+role="img" aria-label="QR code of the card"><svg /g)).toHaveLength(1)
    expect(readText(page.text)).toContain('This card is not valid now.')
    expect((await browser.open(`${issuer}/connected`)).text).toContain('href="/v1/oauth/card"')
    expect(await db.memberCard.count({ where: { personId: holder.member } })).toBe(2)
  })

  it('distinguishes clubs of one name', async () => {
    const [holder, other] = [await newHolder(), await newHolder({ status: 'lost' })]
    const { db } = here.world
    await db.membership.create({ data: { organisationId: other.club, personId: holder.member } })
    await db.memberCard.update({ where: { serial: other.serial }, data: { personId: holder.member } })
    const browser = here.newBrowser()
    const page = await browser.submit(await browser.open(`${issuer}/card`), 'pick', { member: holder.member })
    for (const { club } of [holder, other]) expect(page.text).toContain(`Riverside (${club})`)
  })

  it('shows a member without a card that there is none', async () => {
    const { member, serial } = await newHolder()
    await here.world.db.memberCard.delete({ where: { serial } })
    const browser = here.newBrowser()
    const page = await browser.submit(await browser.open(`${issuer}/card`), 'pick', { member })
    expect(readText(page.text)).toContain('None of your clubs has issued one.')
    expect(page.text).not.toContain('<figure')
    expect((await browser.open(`${issuer}/connected`)).text).not.toContain('/oauth/card"')
  })
})
