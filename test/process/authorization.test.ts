import { describe, expect, it } from 'vitest'
import { emptyDatabase } from '../support/databases.ts'
import type { Service } from './service.ts'
import { dataDirectory, dataDirectoryWithCluster, send, start } from './service.ts'

const headers = { host: 'auth.localhost' }
const connected = '/v1/oauth/connected'

/** Whether the sign-in page offers the development login, and the status of using it anyway. */
async function developmentLogin({ port }: Service) {
  const page = await send(port, 'GET', connected, { headers })
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  const picked = await send(port, 'POST', `${connected}/pick`, { headers: form })
  return { status: page.status, isOffered: page.text.includes(`${connected}/pick`), picked: picked.status }
}

describe('the development login', () => {
  it('returns 404 with NODE_ENV=production', async () => {
    const service = await start({ DATA_DIR: await dataDirectoryWithCluster(), NODE_ENV: 'production' })
    expect(await developmentLogin(service)).toEqual({ status: 200, isOffered: false, picked: 404 })
    await service.stop()
  })

  it('returns 404 with DATABASE_URL', async () => {
    const service = await start({ DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase() })
    expect(await developmentLogin(service)).toEqual({ status: 200, isOffered: false, picked: 404 })
    await service.stop()
  })
})

describe('clients behind a reverse proxy', () => {
  it.each([
    ['are counted one by one', { TRUSTED_PROXIES: '127.0.0.0/8' }, 400],
    ['are counted together without TRUSTED_PROXIES', {}, 429],
  ])('%s', async (_, settings, otherStatus) => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase(), ...settings }
    const service = await start(env)
    const ask = async (client: string) => {
      const from = { ...headers, 'x-forwarded-for': client }
      return (await send(service.port, 'GET', '/v1/oauth/authorize', { headers: from })).status
    }
    const answers = await Promise.all(Array.from({ length: 300 }, () => ask('198.51.100.7')))
    expect(new Set(answers)).toEqual(new Set([400]))
    expect(await ask('198.51.100.7')).toBe(429)
    expect(await ask('198.51.100.8')).toBe(otherStatus)
    await service.stop()
  })
})

describe('the page on which clubs decide', () => {
  it.each([
    [{ CLUB_APPROVAL: 'true' }, 200],
    [{}, 404],
  ])('with %o is %i', async (settings, status) => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase(), ...settings }
    const service = await start(env)
    expect((await send(service.port, 'GET', '/v1/oauth/club', { headers })).status).toBe(status)
    await service.stop()
  })
})
