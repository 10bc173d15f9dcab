import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig, variables } from '../../server/config.ts'

describe('the settings', () => {
  it('have the documented defaults', () => {
    expect(readConfig({})).toMatchObject({
      port: 3000,
      internalPort: 3001,
      databaseUrl: undefined,
      dataDir: expect.stringMatching(/\/\.data$/),
      baseUrls: {
        apps: 'http://apps.localhost:3000/v1',
        lms: 'http://lms.localhost:3000/v1',
        notify: 'http://notify.localhost:3000/v1',
      },
      brand: 'the service',
      storageQuotaBytes: 10_485_760,
      tokenIssuer: undefined,
      logLevel: 'info',
      production: false,
    })
  })

  it('count as unset when they are empty', () => {
    expect(readConfig({ DATABASE_URL: '', PORT: '' })).toMatchObject({ databaseUrl: undefined, port: 3000 })
  })

  it.each([
    ['PORT', 'http'],
    ['PORT', '70000'],
    ['PORT', '1.5'],
    ['INTERNAL_PORT', '-1'],
    ['DATABASE_URL', 'mysql://localhost/x'],
    ['DATABASE_URL', 'localhost'],
    ['APPS_BASE_URL', 'https://apps.example.org'],
    ['APPS_BASE_URL', 'https://example.org/apps/v1'],
    ['LMS_BASE_URL', 'ftp://lms.example.org/v1'],
    ['NOTIFY_BASE_URL', 'https://notify.example.org/v1/'],
    ['SECRETS_KEY', 'c2hvcnQ='],
    ['STORAGE_QUOTA_BYTES', '0'],
    ['STORAGE_QUOTA_BYTES', '10 MB'],
    ['TOKEN_ISSUER', 'issuer'],
    ['LOG_LEVEL', 'loud'],
  ])('refuse %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^.*\\n  ${name}: `))
  })

  it('are refused all at once', () => {
    expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'loud', SECRETS_KEY: 'short' })).toThrow(
      /PORT: .*\n.*SECRETS_KEY: .*\n.*LOG_LEVEL: /,
    )
  })

  it('do not repeat a secret that they refuse', () => {
    expect(() => readConfig({ SECRETS_KEY: 'my-secret-key' })).toThrow(/^(?!.*my-secret-key)/s)
  })

  it('are each in .env.example, and no others', () => {
    const example = readFileSync(join(import.meta.dirname, '../../.env.example'), 'utf8')
    const listed = [...example.matchAll(/^# ?([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(listed.sort()).toEqual([...variables].sort())
  })
})
