import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSettings, sources } from '../../server/process/command-settings.ts'
import { environment, readConfig, unknownSettings } from '../../server/process/config.ts'
import { toSettings } from '../../server/process/run.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

describe('the settings', () => {
  it('have the documented defaults', () => {
    expect(readConfig({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      internalPort: 3001,
      internalHost: '127.0.0.1',
      internalNames: [],
      drainMs: 0,
      databaseUrl: undefined,
      migrateOnStart: true,
      keepDays: { events: 30, consents: 365 },
      signingKeyDays: 90,
      databaseDirectUrl: undefined,
      databasePoolMax: 10,
      dataDir: expect.stringMatching(/\/\.data$/),
      baseUrls: {
        apps: 'http://apps.localhost:3000/v1',
        lms: 'http://lms.localhost:3000/v1',
        notify: 'http://notify.localhost:3000/v1',
        sync: 'http://sync.localhost:3000/v1',
      },
      authBaseUrl: 'http://auth.localhost:3000/v1',
      brand: 'the service',
      storageQuotaBytes: 10_485_760,
      tokenIssuer: undefined,
      login: { smtp: null, upstream: null },
      externalIssuer: null,
      webhooks: { allow: [], worker: true },
      workerPort: undefined,
      traces: false,
      logLevel: 'info',
      developmentTokens: true,
      production: false,
    })
  })

  it.each([
    [{}, 'open'],
    [{ NODE_ENV: 'production' }, 'closed'],
    [{ DATABASE_URL: 'postgresql://127.0.0.1/db' }, 'closed'],
    [{ NODE_ENV: 'production', TEAM_SIGNUP: 'request' }, 'request'],
    [{ TEAM_SIGNUP: 'closed' }, 'closed'],
  ] as const)('lets people create teams, with %j: %s', (env, teamSignup) => {
    expect(readConfig(env)).toMatchObject({ teamSignup })
  })

  it.each([
    [{ DATABASE_URL: 'postgresql://127.0.0.1/db' }, undefined],
    [{ NODE_ENV: 'production' }, undefined],
    [{ HOST: '10.0.0.5' }, '10.0.0.5'],
    [{ HOST: '::', NODE_ENV: 'production' }, '::'],
  ])('with %j give the public port the host %s', (env, host) => {
    expect(readConfig(env)).toMatchObject({ host, internalHost: '127.0.0.1' })
  })

  it('without base addresses have those of PORT, and keep the ones that are given', () => {
    const at = (env: Record<string, string>) => {
      const { baseUrls, authBaseUrl } = readConfig(env)
      return [...Object.values(baseUrls), authBaseUrl]
    }
    const hosts = ['apps', 'lms', 'notify', 'sync', 'auth']
    expect(at({ PORT: '8123' })).toEqual(hosts.map((host) => `http://${host}.localhost:8123/v1`))
    expect(at({ PORT: '80' })).toEqual(hosts.map((host) => `http://${host}.localhost/v1`))
    expect(at({ PORT: '8123', LMS_BASE_URL: 'http://lms.localhost:9000/v1' })).toEqual([
      'http://apps.localhost:8123/v1',
      'http://lms.localhost:9000/v1',
      'http://notify.localhost:8123/v1',
      'http://sync.localhost:8123/v1',
      'http://auth.localhost:8123/v1',
    ])
    expect(readConfig({ PORT: '8123', TOKEN_ISSUER: 'https://id.example.org' }).externalIssuer!.audiences.apps).toBe(
      'http://apps.localhost:8123/v1',
    )
  })

  it.each([
    ['16', { '': 16 }],
    ['16, AT:14', { '': 16, AT: 14 }],
    ['AT:14,DE:16', { AT: 14, DE: 16 }],
  ])('with CONSENT_AGE=%s have the age of each country', (value, ages) => {
    expect(readConfig({}).consentAges).toBeNull()
    expect(Object.fromEntries(readConfig({ CONSENT_AGE: value }).consentAges!)).toEqual(ages)
  })

  it('count as unset when they are empty', () => {
    expect(readConfig({ DATABASE_URL: '', PORT: '' })).toMatchObject({ databaseUrl: undefined, port: 3000 })
  })

  const refused: Record<string, string[]> = {
    PORT: ['http', '1.5', '0x50', ' 80'],
    INTERNAL_PORT: ['-1'],
    HOST: ['localhost'],
    INTERNAL_HOST: ['10.0.0.0/8'],
    INTERNAL_NAMES: ['node-1.example.org,', 'node-1:3001'],
    DATABASE_DIRECT_URL: ['localhost'],
    DATABASE_POOL_MAX: ['0', '10000'],
    APPS_BASE_URL: ['https://apps.example.org', 'https://example.org/apps/v1'],
    LMS_BASE_URL: ['ftp://lms.example.org/v1'],
    NOTIFY_BASE_URL: ['https://notify.example.org/v1/'],
    AUTH_BASE_URL: ['https://user@auth.example.org/v1'],
    SECRETS_KEY: [
      'c2hvcnQ=',
      `${Buffer.alloc(32).toString('base64')},c2hvcnQ=`,
      `${Buffer.alloc(32).toString('base64')},`,
      Buffer.alloc(64).toString('base64'),
    ],
    DRAIN_SECONDS: ['61', '5s'],
    STORAGE_QUOTA_BYTES: ['0', '10 MB'],
    MIGRATE_ON_START: ['no'],
    KEEP_EVENTS_DAYS: ['0', '10000'],
    KEEP_CONSENTS_DAYS: ['1.5'],
    CLUB_APPROVAL: ['yes'],
    CLIENT_METADATA: ['1'],
    MEMBER_MAILS: ['no'],
    CONSENT_AGE: ['0', '19', '16,', '16,14', 'AT:14,AT:15', 'at:14', 'XX:14', 'AT', '016', '16;AT:14'],
    NODE_ENV: ['Production'],
    TOKEN_ISSUER: [
      'issuer',
      'http://id.example.org',
      'https://id.example.org/?realm=a',
      'http://localhost.example.org',
      'ftp://localhost',
    ],
    SMTP_URL: ['smtp://'],
    BRAND: ['Club\u200d'],
    MAIL_FROM: ['Club\u200d <a@example.org>', 'nobody', 'A <a@example.org>\r\nBcc: b@example.org'],
    LOGIN_ISSUER: ['http://127.0.0.1.example.org'],
    TOKEN_AUDIENCE: ['without an issuer'],
    TOKEN_CLAIM_CLIENT: ['azp'],
    TEAM_SIGNUP: ['true', 'Open', 'requests'],
    TRUSTED_PROXIES: ['localhost', '10.0.0.0/33', '0.0.0.0/0', '::/0', '192.0.2.1,0.0.0.0/0'],
    WEBHOOK_ALLOW: ['localhost', '127.0.0.1,', '127.0.0.1 10.0.0.1', '10.0.0.0/33', 'fe80::1%eth0'],
  }
  const each = Object.entries(refused).flatMap(([name, values]) => values.map((value) => [name, value] as const))
  it.each(each)('refuse %s=%s', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      new RegExp(`^.*\\n  ${name}: (?:".*"|\\*{3}) (?:is not|has no) .*$`, 'm'),
    )
  })

  it.each([
    [{ PORT: '70000' }, 'PORT: "70000" is not a port, a number from 0 to 65535'],
    [{ NODE_ENV: 'prod' }, 'NODE_ENV: "prod" is not development, production or test'],
    [{ WEBHOOK_WORKER: 'no' }, 'WEBHOOK_WORKER: "no" is not true or false'],
    [{ LMS_BASE_URL: 'lms\n.org' }, 'LMS_BASE_URL: "lms\\\\n.org" is not an address of the form https://host/v1'],
    [
      { BRAND: 'a', LOG_LEVEL: 'x'.repeat(101) },
      `LOG_LEVEL: "${'x'.repeat(100)}…" is not fatal, error, warn, info, .*`,
    ],
    [{ TOKEN_TYPE: 'JWT' }, 'TOKEN_TYPE: "JWT" has no effect without TOKEN_ISSUER'],
    [
      { TOKEN_ISSUER: 'https://id.example.org', CLUB_APPROVAL: 'true' },
      'CLUB_APPROVAL: "true" is not possible with TOKEN_ISSUER',
    ],
    [
      { TOKEN_ISSUER: 'https://id.example.org', CLIENT_METADATA: 'true' },
      'CLIENT_METADATA: "true" is not possible with TOKEN_ISSUER',
    ],
    [
      { TOKEN_ISSUER: 'https://id.example.org', CONSENT_AGE: '16' },
      'CONSENT_AGE: "16" is not possible with TOKEN_ISSUER',
    ],
    [{ DATABASE_DIRECT_URL: 'postgresql://localhost/db' }, 'DATABASE_URL: is required with DATABASE_DIRECT_URL'],
    [{ SMTP_URL: 'smtp://mail.example.org' }, 'MAIL_FROM: is required with SMTP_URL'],
    [
      { AUTH_BASE_URL: `https://${'a'.repeat(90)}/v1` },
      'AUTH_BASE_URL: is longer than 100 characters, and a QR of a member card could not hold it',
    ],
    [{ PORT: '3001' }, 'INTERNAL_PORT: "3001" is also the PORT, and must differ'],
    [
      { PORT: '80', INTERNAL_PORT: '80', HOST: '::', INTERNAL_HOST: '10.0.0.5' },
      'INTERNAL_PORT: "80" is also the PORT.*',
    ],
    [
      { LMS_BASE_URL: 'http://Apps.localhost:9/v1' },
      'LMS_BASE_URL: "http://Apps.localhost:9/v1" has the host of APPS_BASE_URL, but needs its own',
    ],
    [
      { APPS_BASE_URL: 'https://lms.localhost/v1' },
      'APPS_BASE_URL: "https://lms.localhost/v1" has the host of LMS_BASE_URL, but needs its own',
    ],
  ])('refuse %j with name, value and what is allowed', (env, line) => {
    expect(() => readConfig(env)).toThrow(new RegExp(`:\\n  ${line}$`))
  })

  it('allow one port on two interfaces', () => {
    const env = { PORT: '80', INTERNAL_PORT: '80', HOST: '10.0.0.5' }
    expect(readConfig(env)).toMatchObject({ port: 80, internalPort: 80 })
  })

  it.each([
    ['SMTP_URL', 'smtp://mail.example.org', 'MAIL_FROM'],
    ['MAIL_FROM', 'a@example.org', 'SMTP_URL'],
    ['LOGIN_ISSUER', 'https://id.example.org', 'LOGIN_CLIENT_ID'],
    ['LOGIN_CLIENT_ID', 'apps', 'LOGIN_ISSUER'],
    ['LOGIN_CLIENT_SECRET', 'my-secret', 'LOGIN_ISSUER'],
    ['LOGIN_NAME', 'Club account', 'LOGIN_ISSUER'],
    ['APPLE_PASS_CERTIFICATE', 'pass.pem', 'APPLE_PASS_KEY'],
    ['APPLE_PASS_KEY', 'pass.key', 'APPLE_PASS_WWDR'],
    ['APPLE_PASS_WWDR', 'wwdr.pem', 'APPLE_PASS_TYPE'],
    ['APPLE_PASS_TYPE', 'pass.org.example.card', 'APPLE_TEAM'],
    ['APPLE_TEAM', 'ABCDE12345', 'APPLE_PASS_CERTIFICATE'],
  ])('refuse %s without what it needs', (name, value, other) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^.*\\n  ${other}: is required with ${name}$`))
    expect(() => readConfig({ [name]: value, PORT: 'x' })).toThrow(/PORT: .*\n.*is required with/)
  })

  it('configure how members sign in', () => {
    const family = '👨\u200d👩\u200d👧 Club'
    expect(readConfig({ BRAND: family }).pageBrand.name).toBe(family)
    const joined = { SMTP_URL: 'smtp://mail.example.org', MAIL_FROM: `${family} <no-reply@example.org>` }
    expect(readConfig(joined).login.smtp?.from).toBe(joined.MAIL_FROM)
    const mail = { SMTP_URL: 'smtps://user:word@mail.example.org', MAIL_FROM: 'Member apps <no-reply@example.org>' }
    const provider = { LOGIN_ISSUER: 'https://id.example.org/realm', LOGIN_CLIENT_ID: 'apps' }
    const upstream = { issuer: 'https://id.example.org/realm', clientId: 'apps', name: 'id.example.org' }
    expect(readConfig({ ...mail, ...provider }).login).toEqual({
      smtp: { url: mail.SMTP_URL, from: mail.MAIL_FROM },
      upstream,
    })
    const more = { LOGIN_CLIENT_SECRET: 'word', LOGIN_NAME: 'Club account' }
    expect(readConfig({ ...provider, ...more }).login).toEqual({
      smtp: null,
      upstream: { ...upstream, clientSecret: 'word', name: 'Club account' },
    })
  })

  it.each(['http://localhost:4000', 'http://127.0.0.1:4000', 'http://[::1]:4000', 'http://id.localhost'])(
    'accept a login issuer at %s, on this machine',
    (issuer) => {
      const { login } = readConfig({ LOGIN_ISSUER: issuer, LOGIN_CLIENT_ID: 'apps' })
      expect(login.upstream).toMatchObject({ issuer })
    },
  )

  it.each([
    'https://id.example.org',
    'https://tenant.eu.example.org/',
    'https://id.example.org/realms/club',
    'http://localhost:8080/realms/club',
    'http://127.0.0.1:8080',
    'http://[::1]:8080',
  ])('take %s as TOKEN_ISSUER unchanged', (issuer) => {
    const { tokenIssuer, externalIssuer } = readConfig({ TOKEN_ISSUER: issuer })
    expect([tokenIssuer, externalIssuer!.issuer]).toEqual([issuer, issuer])
  })

  it('configure claims and audiences of an external issuer', () => {
    const TOKEN_ISSUER = 'https://id.example.org'
    expect(readConfig({ TOKEN_ISSUER, LMS_BASE_URL: 'https://lms.example.org/v1' }).externalIssuer).toEqual({
      issuer: TOKEN_ISSUER,
      jwksUrl: undefined,
      type: 'at+jwt',
      audiences: {
        apps: 'http://apps.localhost:3000/v1',
        lms: 'https://lms.example.org/v1',
        notify: 'http://notify.localhost:3000/v1',
      },
      claims: { member: 'sub', organisation: 'organisation', client: 'client_id', scope: 'scope' },
    })
    const given = readConfig({
      TOKEN_ISSUER,
      TOKEN_JWKS_URL: 'https://keys.example.org',
      TOKEN_TYPE: 'JWT',
      TOKEN_AUDIENCE: 'all',
      TOKEN_AUDIENCE_NOTIFY: 'notify',
      TOKEN_CLAIM_MEMBER: 'a',
      TOKEN_CLAIM_ORGANISATION: 'b.c',
      TOKEN_CLAIM_CLIENT: 'azp',
      TOKEN_CLAIM_SCOPE: 'permissions',
    })
    expect(given.externalIssuer).toEqual({
      issuer: TOKEN_ISSUER,
      jwksUrl: 'https://keys.example.org',
      type: 'JWT',
      audiences: { apps: 'all', lms: 'all', notify: 'notify' },
      claims: { member: 'a', organisation: 'b.c', client: 'azp', scope: 'permissions' },
    })
  })

  it('believe development tokens outside of production, or as DEVELOPMENT_TOKENS says, and never with an issuer', () => {
    const believed = (env: Record<string, string>) => readConfig(env).developmentTokens
    const [production, issuer] = [{ NODE_ENV: 'production' }, { TOKEN_ISSUER: 'https://id.example.org' }]
    expect(believed({})).toBe(true)
    expect(believed({ DEVELOPMENT_TOKENS: 'false' })).toBe(false)
    expect(believed(production)).toBe(false)
    expect(believed({ ...production, DEVELOPMENT_TOKENS: 'true' })).toBe(true)
    expect(believed(issuer)).toBe(false)
    expect(() => readConfig({ ...issuer, DEVELOPMENT_TOKENS: 'true' })).toThrow(
      'DEVELOPMENT_TOKENS: "true" is not possible with TOKEN_ISSUER',
    )
    expect(() => readConfig({ DEVELOPMENT_TOKENS: 'yes' })).toThrow('DEVELOPMENT_TOKENS')
  })

  it.each([
    'http://auth.example.org/v1',
    'http://10.0.0.5/v1',
    'http://localhost.example.org/v1',
    'http://127.0.0.1.nip.io/v1',
  ])('refuse the AUTH_BASE_URL %s in production, as its cookies would be sent without TLS', (AUTH_BASE_URL) => {
    expect(readMessage({ NODE_ENV: 'production', AUTH_BASE_URL })).toContain(
      `\n  AUTH_BASE_URL: "${AUTH_BASE_URL}" is not an https address, or an http address of this machine`,
    )
    expect(readConfig({ AUTH_BASE_URL }).authBaseUrl).toBe(AUTH_BASE_URL)
    // Members sign in elsewhere.
    const TOKEN_ISSUER = 'https://id.example.org'
    expect(readConfig({ NODE_ENV: 'production', AUTH_BASE_URL, TOKEN_ISSUER }).production).toBe(true)
    expect(() => readSettings({ NODE_ENV: 'production', AUTH_BASE_URL }, 'authBaseUrl')).toThrow('AUTH_BASE_URL')
  })

  it.each([' ', '\t', '\n'])('refuse an AUTH_BASE_URL of http in production behind %j too', (space) => {
    const AUTH_BASE_URL = `${space}http://auth.example.org/v1`
    expect(readMessage({ NODE_ENV: 'production', AUTH_BASE_URL })).toContain('\n  AUTH_BASE_URL: ')
  })

  it.each([
    'https://auth.example.org',
    'http://localhost:3000',
    'http://auth.localhost',
    'http://127.3.2.1',
    'http://[::1]:80',
  ])('accept the AUTH_BASE_URL %s/v1 in production', (origin) => {
    const AUTH_BASE_URL = `${origin}/v1`
    expect(readConfig({ NODE_ENV: 'production', AUTH_BASE_URL }).authBaseUrl).toBe(AUTH_BASE_URL)
  })

  it('configure where webhooks may go and which process delivers them', () => {
    const given = { WEBHOOK_ALLOW: '127.0.0.1, ::1,10.20.0.0/16', WEBHOOK_WORKER: 'false' }
    expect(readConfig(given).webhooks).toEqual({ allow: ['127.0.0.1', '::1', '10.20.0.0/16'], worker: false })
    expect(readConfig({ WEBHOOK_ALLOW: '0.0.0.0/0' }).webhooks.allow).toEqual(['0.0.0.0/0'])
  })

  it('export spans when a collector is named, unless OTEL_SDK_DISABLED', () => {
    const [OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED] = ['http://127.0.0.1:4318', 'true']
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT }).traces).toBe(true)
    expect(readConfig({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.org/in' }).traces).toBe(true)
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED }).traces).toBe(false)
    expect(readConfig({ OTEL_SERVICE_NAME: 'club-api' }).traces).toBe(false)
    expect(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' })).toThrow('OTEL_EXPORTER_OTLP_ENDPOINT')
  })

  it('are refused with all faults at once', () => {
    expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'loud', SECRETS_KEY: 'short' })).toThrow(
      /PORT: .*\n.*SECRETS_KEY: .*\n.*LOG_LEVEL: /,
    )
  })

  it.each([
    ['SECRETS_KEY', `${Buffer.alloc(32).toString('base64')},canary`, '***'],
    [
      'DATABASE_URL',
      'mysql://user:canary@db.example.org/name?password=canary',
      '"mysql://***@db.example.org/name?***"',
    ],
    ['DATABASE_URL', 'postgres//user:canary@db.example.org', '"***"'],
    ['DATABASE_URL', 'postgresql://user:canary/name', '"postgresql://***"'],
    ['DATABASE_URL', 'canary', '"***"'],
    ['REDIS_URL', 'http://user:canary@redis.example.org/0', '"http://***@redis.example.org/0"'],
    ['REDIS_URL', 'redis:canary', '"redis://***"'],
    ['NODES', '0', '"0"'],
    ['SMTP_URL', 'https://user:canary@mail.example.org', '"https://***@mail.example.org/"'],
    ['SMTP_URL', 'smtp:canary', '"smtp://***"'],
    ['LOGIN_ISSUER', 'http://user:can/canary@id.example.org', '"http://***@id.example.org"'],
    ['TOKEN_ISSUER', 'https://user:canary@id.example.org', '"https://***@id.example.org"'],
    ['TOKEN_JWKS_URL', 'http://id.example.org/jwks', '"http://id.example.org/jwks"'],
  ])('are refused without repeating a secret: %s=%s', (name, value, shown) => {
    expect(readMessage({ [name]: value })).toContain(`\n  ${name}: ${shown} `)
    expect(readMessage({ [name]: value })).not.toMatch(/canary|AAAA/)
  })

  it('accept one secrets key or several, in their order', () => {
    const keys = [1, 2, 3].map((byte) => Buffer.alloc(32, byte))
    const texts = keys.map((key) => key.toString('base64'))
    expect(readConfig({ SECRETS_KEY: texts[0] }).secretsKeys).toEqual([keys[0]])
    expect(readConfig({ SECRETS_KEY: texts.join(',') }).secretsKeys).toEqual(keys)
    expect(readConfig({}).secretsKeys).toBeUndefined()
  })
})

function readMessage(env: Record<string, string>): string {
  try {
    readConfig(env)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('They are allowed.')
}

describe('the settings of a command', () => {
  it('may be beside others that cannot be used', () => {
    const same = 'http://auth.localhost:3001/v1'
    const wrong = { NODES: '2', PORT: '3001', LOG_LEVEL: 'loud', TOKEN_TYPE: 'JWT', LMS_BASE_URL: same }
    const needed = { DATABASE_URL: 'postgresql://db.example.org/a', SECRETS_KEY: Buffer.alloc(32).toString('base64') }
    const settings = readSettings({ ...wrong, ...needed }, 'databaseUrl', 'secretsKeys', 'dataDir', 'migrateOnStart')
    expect(settings).toMatchObject({
      databaseUrl: needed.DATABASE_URL,
      secretsKeys: [Buffer.alloc(32)],
      dataDir: expect.stringMatching(/\/\.data$/),
      migrateOnStart: true,
    })
  })

  it('are those that the service reads from the same variables', () => {
    const env = {
      DATABASE_URL: 'postgresql://db.example.org/a',
      DATABASE_DIRECT_URL: 'postgresql://db.example.org/b',
      DATABASE_POOL_MAX: '3',
      MIGRATE_ON_START: 'false',
      DATA_DIR: '/data',
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      STORAGE_QUOTA_BYTES: '7',
      NODE_ENV: 'production',
      AUTH_BASE_URL: 'https://auth.example.org/v1',
      KEEP_EVENTS_DAYS: '4',
      KEEP_CONSENTS_DAYS: '5',
    }
    const ofTokens = [{ DEVELOPMENT_TOKENS: 'true' }, { TOKEN_ISSUER: 'https://id.example.org' }]
    const [first, ...more] = Object.keys(sources) as (keyof typeof sources)[]
    for (const given of ofTokens.map((one) => ({ ...env, ...one }))) {
      const all = readConfig(given)
      expect(Object.values(sources).flat()).toEqual(expect.arrayContaining(Object.keys(given)))
      for (const name of [first!, ...more]) expect(readSettings(given, name)[name], name).toEqual(all[name])
    }
  })

  it.each([
    [{ SECRETS_KEY: 'short' }, 'SECRETS_KEY: '],
    [{ DATABASE_DIRECT_URL: 'postgresql://db.example.org/b' }, 'DATABASE_URL: is required with DATABASE_DIRECT_URL'],
    [
      { DEVELOPMENT_TOKENS: 'true', TOKEN_ISSUER: 'https://id.example.org' },
      'DEVELOPMENT_TOKENS: "true" is not possible',
    ],
  ])('refuse %j', (env, line) => {
    const read = () => readSettings(env, 'databaseDirectUrl', 'secretsKeys', 'developmentTokens')
    expect(read).toThrow(`These settings cannot be used (.env.example describes them):\n  ${line}`)
  })
})

describe('the environment', () => {
  /** A directory and two variables that are gone when the test ends. */
  async function setUp() {
    const directory = await temporaryDirectory()
    const [given, missing] = ['MEMBER_APPS_TEST_GIVEN', 'MEMBER_APPS_TEST_MISSING']
    onTestFinished(() => {
      for (const name of [given, missing]) delete process.env[name]
    })
    return { file: join(directory, '.env'), given, missing }
  }

  it.each(['from outside', ''])('wins over the file, which completes it: %j', async (value) => {
    const { file, given, missing } = await setUp()
    process.env[given] = value
    writeFileSync(file, `# comment\n${given}=file\n${missing}="of the file" # comment\n`)
    expect(environment(file)).toMatchObject({ [given]: value, [missing]: 'of the file' })
    // As what else reads the environment sees it.
    expect([process.env[given], process.env[missing]]).toEqual([value, 'of the file'])
  })

  it('is searched for unknown names: in the file all, with the setting that is probably meant', async () => {
    const { file } = await setUp()
    const names = ['SECRET_KEY', 'port', 'DATABASE', 'LOGIN_ISSUR', 'NODE_EXTRA_CA_CERTS', 'POSTGRES_PASSWORD', 'POTR']
    const text = ['PORT', 'PGSSLMODE', 'OTEL_TRACES_SAMPLER', ...names].map((name) => `${name}=canary`).join('\n')
    writeFileSync(file, text)
    const sentences = [
      'DATABASE in .env is not a setting of this service: is DATABASE_URL meant?',
      'LOGIN_ISSUR in .env is not a setting of this service: is LOGIN_ISSUER meant?',
      'NODE_EXTRA_CA_CERTS in .env is not a setting of this service.',
      'POSTGRES_PASSWORD in .env is not a setting of this service.',
      'POTR in .env is not a setting of this service: is PORT meant?',
      'SECRET_KEY in .env is not a setting of this service: is SECRETS_KEY meant?',
      'port in .env is not a setting of this service: is PORT meant?',
    ]
    expect(unknownSettings({}, file).sort()).toEqual(sentences)
    // The process has the file's names in its environment.
    expect(unknownSettings({ SECRET_KEY: 'canary', LOGIN_ISSUR: 'canary' }, file).sort()).toEqual(sentences)
    expect(unknownSettings({}, join(file, '../none'))).toEqual([])
  })

  /** The sentences about an environment, without a file. */
  const readWarnings = (env: Record<string, string>) => unknownSettings(env, join(tmpdir(), 'member-apps-none', '.env'))

  it.each([
    ['SECRET_KEY', 'SECRETS_KEY'],
    ['SECRETSKEY', 'SECRETS_KEY'],
    ['secrets_key', 'SECRETS_KEY'],
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
    ['MAIL_FORM', 'MAIL_FROM'],
    ['APP_BASE_URL', 'APPS_BASE_URL'],
    ['AUTH_BASE_URI', 'AUTH_BASE_URL'],
    ['LOGIN_ISSUR', 'LOGIN_ISSUER'],
    ['WEBHOOKS_ALLOW', 'WEBHOOK_ALLOW'],
    ['STORAGE_QOUTA_BYTES', 'STORAGE_QUOTA_BYTES'],
    ['DEVELOPEMENT_TOKENS', 'DEVELOPMENT_TOKENS'],
    ['DATABASE_POOLMAX', 'DATABASE_POOL_MAX'],
  ])('with %s is probably meant to have %s', (name, meant) => {
    expect(readWarnings({ [name]: 'canary' })).toEqual([
      `${name} in the environment is not a setting of this service: is ${meant} meant?`,
    ])
    // Another program's, as this one has its own.
    expect(readWarnings({ [name]: 'canary', [meant]: 'set' })).toEqual([])
    expect(readWarnings({ [name]: 'canary', [meant]: '' })).toHaveLength(1)
    expect(readWarnings({ [name]: '' })).toEqual([])
  })

  it('gives no warning for the variables of shells, supervisors, Kubernetes and other programs', () => {
    // The last are Kubernetes' names for services called workers and internals.
    const names = `
      PATH HOME PWD OLDPWD USER LOGNAME MAIL SHELL SHLVL TERM LANG LC_ALL TZ _ HOSTNAME HOSTTYPE EDITOR COLOR
      DISPLAY TMPDIR XDG_DATA_DIRS XDG_RUNTIME_DIR SSH_TTY CI NODE NODE_VERSION NODE_OPTIONS NODE_PATH
      NODE_EXTRA_CA_CERTS INIT_CWD YARN_VERSION npm_lifecycle_event npm_config_local_prefix npm_package_name
      npm_node_execpath http_proxy NO_PROXY INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID MAINPID
      STATE_DIRECTORY CREDENTIALS_DIRECTORY PGHOST PGUSER PGDATA PGSSLMODE POSTGRES_USER POSTGRES_PASSWORD
      POSTGRES_DB DATABASE_PASSWORD DB_HOST DB_PORT DB_URL SERVER_PORT WEB_PORT HTTP_PORT INTERNAL_HTTP_PORT
      METRICS_PORT REDIS_HOST REDIS_PORT REDIS_PASSWORD REDISCLI_AUTH REDIS_TLS_URL SMTP_HOST SMTP_PORT
      SMTP_USER API_URL API_BASE_URL HTTP_URL FTP_URL BASE_URL PUBLIC_URL LOG_FORMAT LOG_FILE API_TOKEN
      GITHUB_TOKEN GITHUB_API_URL AWS_REGION AWS_SECRET_ACCESS_KEY OTEL_TRACES_SAMPLER OTEL_SERVICE_NAMES
      KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT
      MEMBER_APPS_SERVICE_HOST MEMBER_APPS_SERVICE_PORT MEMBER_APPS_PORT_3000_TCP REDIS_SERVICE_HOST
      WORKERS_SERVICE_HOST WORKERS_SERVICE_PORT WORKERS_PORT INTERNALS_SERVICE_HOST INTERNALS_PORT`
      .trim()
      .split(/\s+/)
    expect(readWarnings(Object.fromEntries(names.map((name) => [name, 'canary'])))).toEqual([])
  })
})

it.each([
  [{}, {}, {}],
  [{ port: '4000' }, {}, { PORT: '4000', INTERNAL_PORT: '4001' }],
  [{ port: '4000' }, { PORT: '1', INTERNAL_PORT: '' }, { PORT: '4000', INTERNAL_PORT: '4001' }],
  [{ lan: '192.168.1.7' }, {}, { HOST: '0.0.0.0', LOCAL_HOST: '192.168.1.7' }],
  [{ port: 'many' }, {}, { PORT: 'many', INTERNAL_PORT: '' }],
  [{ port: '4000' }, { INTERNAL_PORT: '9000' }, { PORT: '4000', INTERNAL_PORT: '9000' }],
])('the options of a start %j with %j are the settings %j', (options, env, settings) => {
  expect(toSettings(options, env)).toEqual(settings)
})
