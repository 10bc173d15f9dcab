import { describe, expect, it } from 'vitest'
import { migratedDatabase } from '../support/databases.ts'
import { dataDirectory, send, start } from './service.ts'

describe('Strict-Transport-Security', () => {
  it('is on every response of the hosts whose base address is https', async () => {
    const { port, internalPort } = await start({
      DATA_DIR: await dataDirectory(),
      DATABASE_URL: await migratedDatabase(),
      APPS_BASE_URL: 'https://apps.example.org/v1',
      AUTH_BASE_URL: 'https://auth.example.org/v1',
      LMS_BASE_URL: 'http://lms.example.org/v1',
    })
    const ofHost = async (host: string, path: string, method = 'GET') => {
      const { status, headers } = await send(port, method, path, { headers: { host } })
      return [status, headers['strict-transport-security']]
    }
    const oneYear = 'max-age=31536000'
    expect(await ofHost('apps.example.org', '/v1/me/profile')).toEqual([401, oneYear])
    expect(await ofHost('APPS.example.org:443', '/v1/openapi.json')).toEqual([200, oneYear])
    expect(await ofHost('apps.example.org', '/v1/nothing')).toEqual([404, oneYear])
    expect(await ofHost('apps.example.org', '/v1/storage/c/k', 'OPTIONS')).toEqual([204, oneYear])
    expect(await ofHost('auth.example.org', '/v1/oauth/connected')).toEqual([expect.any(Number), oneYear])
    expect(await ofHost('auth.example.org', '/v1/oauth/jwks')).toEqual([200, oneYear])
    expect(await ofHost('auth.example.org', '/v1/oauth/token', 'POST')).toEqual([400, oneYear])
    expect(await ofHost('lms.example.org', '/v1/openapi.json')).toEqual([200, undefined])
    expect(await ofHost('other.example.org', '/v1/nothing')).toEqual([404, undefined])
    const internal = await send(internalPort, 'GET', '/healthz', { headers: { host: 'apps.example.org' } })
    expect(internal.headers['strict-transport-security']).toBe(undefined)
  })
})
