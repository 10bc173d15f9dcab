import { generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CardKey, CardRefused } from '../../clients/sdk/card.ts'
import { createCard, verifyCard } from '../../clients/sdk/card.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { send } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { createCard as issueCard } from '../support/tenant.ts'

const world = useWorld({ auth: {}, localUrls: localUrlsAt('http://localhost') })
let keys: { keys: CardKey[] }
let serial: string
beforeAll(async () => {
  ;({ serial } = await issueCard(world))
  const { body } = await send(world.publicPort, 'GET', '/.well-known/membercards', { headers: { host: 'auth.test' } })
  keys = body
})

const card = async () =>
  createCard({ sync: `http://127.0.0.1:${world.publicPort}/sync/v1`, tokens: await world.token() })
const refusal = (code: string, by = keys) =>
  verifyCard(code, by).then(
    () => 'none',
    ({ name, reason }: CardRefused) => `${name}: ${reason}`,
  )

describe('the card of the SDK', () => {
  it('has a code, and its page as an SVG', async () => {
    const { code, url, validUntil } = await (await card()).code()
    expect([url.endsWith(`/card/${code}`), typeof validUntil]).toEqual([true, 'number'])
    const svg = await (await card()).qr()
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 (\d+) \1".*<\/svg>$/s)
    expect(svg).not.toMatch(/<script|style=/)
  })

  it('rejects with an error of the API for a member without a valid card', async () => {
    const other = createCard({
      sync: `http://127.0.0.1:${world.publicPort}/sync/v1`,
      tokens: await world.token({ sub: 'nobody' }),
    })
    await expect(other.qr()).rejects.toMatchObject({ name: 'ApiError', status: 404 })
  })
})

describe('verifyCard()', () => {
  it('returns the card of a code, and of the address that a QR has', async () => {
    const { code, url, validUntil } = await (await card()).code()
    const checked = { serial, name: 'Mia Member', club: 'Club', validUntil: '2999-12-31', expiresAt: validUntil }
    expect(await verifyCard(code, keys)).toEqual(checked)
    expect(await verifyCard(url, keys)).toEqual(checked)
  })

  it('refuses codes that are forged, of other keys, expired or no codes at all', async () => {
    const { code } = await (await card()).code()
    const [header, claims, signature] = code.split('.') as [string, string, string]
    const other = await generateKeyPair('ES256')
    const sign = (typ: string, exp: number) =>
      new SignJWT({ s: 'C', n: 'A', c: 'B', t: 'valid', e: '2999-12-31', exp })
        .setProtectedHeader({ alg: 'ES256', typ, kid: keys.keys[0]!.kid })
        .sign(other.privateKey)
    expect(await refusal(await sign('membercard+jwt', 9e9))).toBe('CardRefused: signature')
    expect(await refusal(`${header}.${Buffer.from('{}').toString('base64url')}.${signature}`)).toBe(
      'CardRefused: signature',
    )
    expect(await refusal(`${header}.${claims}.AAAA`)).toBe('CardRefused: signature')
    expect(await refusal(code, { keys: [] })).toBe('CardRefused: key')
    expect(await refusal(await sign('at+jwt', 9e9))).toBe('CardRefused: malformed')
    for (const text of ['', 'x', '..', `${code}.x`, 'https://example.org/', '\u0000.\u0000.\u0000']) {
      expect(await refusal(text)).toBe('CardRefused: malformed')
    }
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const own = { ...(await crypto.subtle.exportKey('jwk', publicKey)), kid: 'own' } as CardKey
    const late = new SignJWT({ s: 'C', t: 'valid', exp: 1 }).setProtectedHeader({
      alg: 'ES256',
      typ: 'membercard+jwt',
      kid: 'own',
    })
    expect(await refusal(await late.sign(privateKey), { keys: [own] })).toBe('CardRefused: expired')
  })
})
