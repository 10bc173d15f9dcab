import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadPasses } from '../../server/oauth/keys/card-passes.ts'
import { createCard } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { createPassCertificate } from './pass-certificate.ts'

const ends: (() => Promise<void>)[] = []
const { folder, at, openssl, rsa, signed, settings } = createPassCertificate((end) => ends.push(end))
const none = () => {}

let world: World
beforeAll(async () => {
  openssl('x509', ...signed, '-out', 'expired.pem', '-days', '0')
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'ec.key')
  openssl('genrsa', '-out', 'other.key', '2048')
  openssl('req', '-x509', ...rsa, '-keyout', 'other-wwdr.key', '-out', 'other-wwdr.pem', '-subj', '/CN=Other')
  world = await startWorld({ auth: {}, passes: loadPasses(settings, none) })
  await createCard(world)
})
afterAll(async () => {
  await world?.close()
  for (const end of ends) await end()
})

const get = (claims = {}) => world.call('GET', '/membercard/pass', { api: 'sync', claims })

describe('GET /membercard/pass', () => {
  it('returns an archive whose manifest is signed for the authority, with the QR of the code', async () => {
    const { status, headers, bytes } = await get()
    expect([status, headers['content-type']]).toEqual([200, 'application/vnd.apple.pkpass'])
    expect(headers['content-length']).toBe(String(bytes!.length))
    writeFileSync(at('card.pkpass'), bytes!)
    execFileSync('python3', ['-m', 'zipfile', '-e', 'card.pkpass', 'unpacked'], { cwd: folder })
    const read = (name: string) => readFileSync(at(`unpacked/${name}`))
    const manifest = JSON.parse(read('manifest.json').toString())
    for (const [name, hash] of Object.entries(manifest)) {
      expect([name, createHash('sha1').update(read(name)).digest('hex')]).toEqual([name, hash])
    }
    const signed = ['-in', 'unpacked/signature', '-inform', 'DER', '-content', 'unpacked/manifest.json']
    const verified = openssl('smime', '-verify', ...signed, '-CAfile', 'wwdr.pem', '-purpose', 'any', '-binary')
    expect(JSON.parse(verified.toString())).toEqual(manifest)

    const pass = JSON.parse(read('pass.json').toString())
    expect(pass).toMatchObject({
      formatVersion: 1,
      passTypeIdentifier: settings.type,
      teamIdentifier: settings.team,
      organizationName: 'Club',
      barcodes: [{ format: 'PKBarcodeFormatQR', message: expect.stringMatching(/^http:\/\/auth\.test\/v1\/card\//) }],
      generic: {
        primaryFields: [{ value: 'Mia Member' }],
        secondaryFields: [{ value: 'Club' }, { value: '2999-12-31' }],
      },
    })
    const left = Date.parse(pass.expirationDate) / 1000 - world.now()
    expect(left).toBeGreaterThan(86_390)
    expect(left).toBeLessThanOrEqual(86_401)
    expect(read('fr.lproj/pass.strings').toString()).toContain('"until" = "Valable jusqu’au";')
    expect((await get()).bytes).toEqual(bytes)
  })

  it('returns 404 to a member without a card, and where the operator has set no certificate', async () => {
    const other = await startWorld({ auth: {} })
    await createCard(other)
    const { status, body } = await other.call('GET', '/membercard/pass', { api: 'sync' })
    expect([status, body.error.message]).toEqual([404, 'This service does not offer cards in this form.'])
    expect((await other.call('GET', '/membercard/code', { api: 'sync' })).status).toBe(200)
    await other.close()
    await world.db.memberCard.updateMany({ where: { personId: world.ids.member }, data: { status: 'lost' } })
    expect((await get()).body.error.message).toBe('This member has no valid card.')
  })
})

describe('the certificate of passes', () => {
  it.each([
    [{ certificate: at('none.pem') }, /^APPLE_PASS_CERTIFICATE cannot be used: ENOENT/],
    [{ certificate: at('pass.csr') }, /^APPLE_PASS_CERTIFICATE cannot be used: /],
    [{ key: at('pass.pem') }, /^APPLE_PASS_KEY cannot be used: /],
    [{ key: at('ec.key') }, /^APPLE_PASS_KEY cannot be used: it is no RSA key$/],
    [{ key: at('other.key') }, /^APPLE_PASS_KEY is not that of APPLE_PASS_CERTIFICATE$/],
    [{ wwdr: at('other-wwdr.pem') }, /^APPLE_PASS_WWDR has not issued APPLE_PASS_CERTIFICATE$/],
    [{ key: at('none'), wwdr: at('none') }, /^APPLE_PASS_KEY cannot be used: .*\nAPPLE_PASS_WWDR cannot be used: .*$/],
  ])('is refused at the start with a line for each fault: %j', (wrong, message) => {
    expect(() => loadPasses({ ...settings, ...wrong }, none)).toThrow(message)
  })

  it('is used with a warning once it has expired', () => {
    const warnings: string[] = []
    loadPasses({ ...settings, certificate: at('expired.pem') }, (sentence) => void warnings.push(sentence))
    expect(warnings).toEqual([expect.stringMatching(/^APPLE_PASS_CERTIFICATE has expired on /)])
  })
})
