import { PNG } from 'pngjs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Prisma } from '../../prisma/generated/client.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import type { Browser } from '../oauth/browser.ts'
import { encodeJpeg, encodePng, makePixels } from '../support/pictures.ts'
import type { PortalWorld } from './portal-world.ts'
import { portal, startPortal } from './portal-world.ts'

let team: PortalWorld
let clockMs = 0
beforeAll(async () => {
  team = await startPortal({ limits: memoryLimits(() => clockMs) })
})
beforeEach(async () => {
  // There are 10 uploads in one.
  clockMs += 60_000
  const { db, ids } = team.world
  const data = { logo: null, wanted: Prisma.DbNull, wantedLogo: null }
  await db.app.update({ where: { id: ids.app }, data, select: { id: true } })
  // The tenant's app would have members.
  await db.client.deleteMany({ where: { appId: ids.app } })
})
afterAll(() => team.world.close())

const own = makePixels(48)
const png = encodePng(own)
const row = () => team.world.db.app.findUniqueOrThrow({ where: { id: team.world.ids.app } })
const makeForm = async (bytes: Buffer, name = 'logo.png') => {
  const form = new FormData()
  form.set('version', String((await row()).version))
  form.set('picture', new Blob([new Uint8Array(bytes)]), name)
  return form
}
const upload = async (bytes: Buffer, { browser = team.asOwner, name = 'logo.png', headers = {} } = {}) =>
  browser.upload(`${team.app}/settings/logo`, await makeForm(bytes, name), headers)
const shown = (text: string) => [...text.matchAll(/<img class="icon" src="([^"]+)"[^>]*alt="([^"]+)"/g)]
const open = (path: string, browser: Browser = team.newBrowser()) => browser.get(new URL(path, portal))

describe('the logo of an app', () => {
  it.each([
    ['PNG', png],
    ['JPEG', encodeJpeg(own)],
  ])('is uploaded as %s, shown with its name, and served by us as PNG', async (_, bytes) => {
    const answer = await upload(bytes, { name: 'any.txt' })
    expect([answer.status, answer.location?.href]).toEqual([303, `${team.app}/settings?done=saved`])
    const [[, address, alt] = []] = shown((await team.asOwner.follow(answer)).text)
    expect(alt).toBe('Logo of App')
    const { status, headers } = await open(address!)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String((await row()).logo!.length),
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable, no-transform',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(PNG.sync.read(Buffer.from((await row()).logo!)).width).toBe(48)
  })

  it('is taken away by its button', async () => {
    await upload(png)
    const page = await team.asOwner.get(`${team.app}/settings`)
    expect(page.text).toContain('Remove logo')
    const version = String((await row()).version)
    const done = await team.asOwner.follow(await team.asOwner.post(`${team.app}/settings/remove-logo`, { version }))
    expect(done.text).toContain('Removed.')
    expect(shown(done.text)).toEqual([])
    expect(done.text).not.toContain('Remove logo')
    expect((await row()).logo).toBeNull()
  })

  it('that waits for approval is shown to its team, beside the one in force', async () => {
    await upload(png)
    await team.production()
    const page = await team.asOwner.follow(await upload(encodePng(makePixels(32))))
    expect(page.text).toContain('Changes to what members see or allow need approval')
    const pictures = shown(page.text).map(([, address, alt]) => ({ address: address!, alt }))
    expect(pictures.map(({ alt }) => alt)).toEqual(['Logo pending approval', 'Logo of App'])
    for (const { address } of pictures) expect((await open(address)).status).toBe(200)
  })
})

describe('an upload that is refused says why, and changes nothing:', () => {
  const noise = Buffer.alloc(129 * 1024, png)
  it.each<[string, Buffer, number, string]>([
    ['129 KiB', noise, 400, 'The logo is at most 128 KiB.'],
    ['more than the form may have', Buffer.alloc(300 * 1024, png), 400, 'The logo is at most 128 KiB.'],
    ['a file that is cut off', png.subarray(0, -30), 400, 'The logo cannot be read'],
  ])('%s', async (_, bytes, status, message) => {
    const before = await team.stored()
    const answer = await upload(bytes)
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(/<div class="banner bad" role="alert" id="problem"><svg.*?<\/svg><div><p>[^<]+/s)
    expect(answer.text).toContain(message)
    expect(await team.stored()).toEqual(before)
    expect((await team.asOwner.get(answer.url)).location?.href).toBe(`${team.app}/settings`)
  })

  it('a form of more than 160 KiB, whatever its picture has', async () => {
    const formOfBytes = async (bytes: number) => {
      const form = await makeForm(png)
      form.set('padding', '')
      const { byteLength } = await new Response(form).arrayBuffer()
      form.set('padding', 'x'.repeat(bytes - byteLength))
      return form
    }
    const before = await team.stored()
    const refused = await team.asOwner.upload(`${team.app}/settings/logo`, await formOfBytes(160 * 1024 + 1))
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('The logo is at most 128 KiB.')
    expect(await team.stored()).toEqual(before)
    const accepted = await team.asOwner.upload(`${team.app}/settings/logo`, await formOfBytes(160 * 1024))
    expect(accepted.location?.search).toBe('?done=saved')
  })

  const refusals: [string, number, () => Promise<{ status: number }>][] = [
    [
      'as another kind of form',
      415,
      () => team.asOwner.post(`${team.app}/settings/logo`, { version: '0', picture: 'x' }),
    ],
    ['without its parts', 400, () => upload(png, { headers: { 'content-type': 'multipart/form-data; boundary=x' } })],
    ['without a boundary', 400, () => upload(png, { headers: { 'content-type': 'multipart/form-data; a=b' } })],
    ['without a picture', 400, () => team.asOwner.upload(`${team.app}/settings/logo`, new FormData())],
  ]
  it.each(refusals)('%s: %d', async (_, status, send) => {
    const before = await team.stored()
    const answer = await send()
    expect(answer.status).toBe(status)
    expect(await team.stored()).toEqual(before)
  })

  it('with a former version: 409', async () => {
    const form = await makeForm(png)
    await upload(encodePng(makePixels(20)))
    const before = await team.stored()
    expect((await team.asOwner.upload(`${team.app}/settings/logo`, form)).status).toBe(409)
    expect(await team.stored()).toEqual(before)
  })

  it('15 minutes after the sign-in, which leads back to the page', async () => {
    const browser = await team.signIn(team.owner)
    const before = await team.stored()
    team.world.advance(16 * 60)
    const answer = await upload(png, { browser })
    expect([answer.status, answer.location?.href]).toEqual([303, `${portal}/sign-in`])
    const done = await browser.submit(await browser.follow(answer), 'pick', { member: team.owner })
    expect(done.text).toContain('could not be stored while you signed in')
    expect(done.url.href).toBe(`${team.app}/settings?done=again`)
    expect(await team.stored()).toEqual(before)
    team.world.advance(-16 * 60)
  })
})
