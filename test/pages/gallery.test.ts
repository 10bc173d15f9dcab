import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { send } from '../support/request.ts'
import { startedAround } from '../support/started.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const trial = startedAround(async () => ({ world: await startWorld({ auth: {}, trial: true }) }))
const service = startedAround(async () => ({ world: await startWorld({ auth: {} }) }))

const ask = ({ publicPort }: World, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(publicPort, method, path, { headers: { host: 'auth.test', accept: 'text/html', ...headers } })

describe('the gallery of components', () => {
  it.each(['auth.test', 'apps.test', 'localhost'])('is at /look of %s in a trial, within 20 kB', async (host) => {
    const { status, text, headers } = await ask(trial.world, '/look', { host })
    expect(status).toBe(200)
    expect(gzipSync(text).length).toBeLessThanOrEqual(20_000)
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; connect-src 'self';/)
    expect(text).not.toMatch(/<style|\sstyle=|<script>|undefined|\[object|NaN/)
  })

  it('is in the language of the query, else in that of the browser', async () => {
    const german = { 'accept-language': 'de' }
    const languageAt = async (path: string) =>
      /<html lang="(\w+)"/.exec((await ask(trial.world, path, german)).text)?.[1]
    expect(await languageAt('/look')).toBe('de')
    expect(await languageAt('/look?language=en')).toBe('en')
    expect(await languageAt('/look?language=xx')).toBe('de')
  })

  it('loads its sheet, script and typefaces beside it', async () => {
    const { text } = await ask(trial.world, '/look')
    const addresses = [...text.matchAll(/(?:href|src)="(\/look\/[^"]+)"/g)].map(([, address]) => address!)
    expect(addresses).toHaveLength(4)
    for (const address of addresses) expect([address, (await ask(trial.world, address)).status]).toEqual([address, 200])
    expect((await ask(trial.world, '/look', {}, 'POST')).status).toBe(405)
  })

  it.each(['/look', '/look/style.css', '/look/script.js'])('is no address elsewhere: %s', async (path) => {
    const generic = ({ status, text }: { status: number; text: string }, address: string) => [
      status,
      text.replaceAll(address, '').replace(/<code>[^<]*<\/code>/g, ''),
    ]
    const other = '/look-elsewhere'
    for (const accept of ['text/html', '*/*']) {
      const found = await ask(service.world, path, { accept, 'x-request-id': 'same' })
      const unknown = await ask(service.world, other, { accept, 'x-request-id': 'same' })
      expect(found.status).toBe(404)
      expect(generic(found, path)).toEqual(generic(unknown, other))
    }
    expect((await ask(trial.world, `${path}x`)).status).toBe(404)
  })
})
