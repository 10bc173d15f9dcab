import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { hashOfSecret, newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { demoConsent } from '../support/app-server.ts'
import { emptyDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { command, dataDirectory, start } from './service.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const sections = (await readFile(join(root, 'docs/sync.md'), 'utf8')).split('\n## ')
const lines = [...sections.find((text) => text.startsWith('The app itself'))!.matchAll(/```sh\n(.*?)```/gs)].map(
  ([, text]) => text!,
)

it('the server of an app sets a rule and stores an entry by the lines of docs/sync.md', async () => {
  const [databaseUrl, secret] = [await emptyDatabase(), newClientSecret()]
  const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: databaseUrl, NODE_ENV: 'production' }
  await command('seed', ['--yes'], env).ended
  const db = openTestDatabase(databaseUrl)
  await db.consent.create({ data: demoConsent })
  const [createdAt, expiresAt] = [new Date(), new Date(Date.now() + 86_400_000)]
  const secrets = { create: { id: 'secret', hash: hashOfSecret(secret), createdAt, expiresAt } }
  const data = { authentication: 'client_secret' as const, redirectUris: ['https://app.example/'], secrets }
  await db.client.update({ where: { id: 'trainer-app' }, data })
  const service = await start(env)
  const urls = Object.fromEntries(
    ['auth', 'sync'].map((name) => [`${name.toUpperCase()}_BASE_URL`, `http://${name}.localhost:${service.port}/v1`]),
  )
  const sh = async (line: string, more: Record<string, string>) => {
    const { stdout } = await run('bash', ['-c', `${line.replaceAll('curl ', 'curl --silent ')}`], {
      env: { ...process.env, ...urls, ...more },
    })
    return stdout
  }
  const [granting, calling] = lines
  const { access_token: TOKEN, ...more } = JSON.parse(
    await sh(granting!, { CLIENT_ID: 'trainer-app', CLIENT_SECRET: secret }),
  )
  const scope = 'svc.apps.storage:read svc.apps.storage:write'
  expect(more).toEqual({ expires_in: 900, token_type: 'Bearer', scope })
  const answers = await sh(calling!, { TOKEN })
  expect(answers).toMatch(/^\{"rule":"app"\}\{"results":\[\{"etag":".+","updatedAt":\d+\}\]\}$/)
  expect(await db.storageEntry.findMany({ where: { collection: 'ranking' } })).toMatchObject([
    { appId: 'trainer-app', clubId: 'riverside', key: 'may', value: '["anna", "ben"]', createdBy: null },
  ])
  await db.$disconnect()
  await service.stop()
})
