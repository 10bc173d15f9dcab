import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { addTeam, inviteToTeam } from '../../server/admin/teams.ts'
import { readConfig } from '../../server/process/config.ts'
import { startService } from '../../server/process/start.ts'
import { startMailServer } from '../oauth/mail-server.ts'
import { limitOwnSessions, migratedDatabase } from '../support/databases.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { suiteLimits } from '../support/time-limits.ts'

it('a service with SMTP_URL sends what is queued, with the address of its portal and its brand', async () => {
  const server = await startMailServer()
  onTestFinished(server.close)
  const url = await migratedDatabase()
  await limitOwnSessions(url, suiteLimits)
  const dataDir = await mkdtemp(join(tmpdir(), 'member-apps-mails-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const config = readConfig({
    PORT: '0',
    INTERNAL_PORT: '0',
    DATABASE_URL: url,
    SECRETS_KEY,
    DATA_DIR: dataDir,
    SMTP_URL: server.url,
    MAIL_FROM: 'apps@example.org',
    BRAND: 'Riverside',
  })
  const db = openTestDatabase(url)
  const at = new Date(Date.now() - 1_000)
  await addTeam(db, { id: 'planners', name: 'Planners', level: 'hobby' }, at)
  await inviteToTeam(db, { team: 'planners', email: 'jo@example.org', role: 'owner' }, at)
  await db.$disconnect()
  const housekeeping = { intervalMs: 20, endingMs: 60_000 }
  const service = await startService(config, pino({ level: 'silent' }), { timeLimits: suiteLimits, housekeeping })
  onTestFinished(() => service.close())
  await expect.poll(() => server.mails.length).toBe(1)
  const [mail] = server.mailsTo('jo@example.org')
  expect(mail!.headers).toMatchObject({
    from: 'Riverside <apps@example.org>',
    subject: 'Invitation to the team Planners',
  })
  expect(mail!.parts['text/plain']).toContain(`Sign in: ${config.authBaseUrl}/oauth/developers`)
})
