import { expect, it } from 'vitest'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { run } from './run.ts'

it('with DATABASE_DIRECT_URL the commands use that address alone, and limit the sessions of the role in DATABASE_URL', async () => {
  const url = direct(await emptyDatabase())
  const pooled = Object.assign(new URL(url), { host: '127.0.0.1:1' })
  const env = { DATABASE_URL: pooled.href, DATABASE_DIRECT_URL: url, SECRETS_KEY: Buffer.alloc(32).toString('base64') }
  const commands = [
    ['migrate'],
    ['seed'],
    ['import', '--kind', 'people', '-'],
    ['removals', '--since', '2026-01-01T00:00:00Z', '/dev/null'],
    ['member', 'export', '--member', 'anna'],
    ['member', 'erase', '--member', 'anna', '--yes'],
    ['storage', 'erase', '--app', 'trainer-app', '--club', 'riverside', '--yes'],
    ['client', 'list'],
    ['secrets', 'check'],
  ]
  for (const argv of commands) {
    expect([argv[0], await run(argv, env, { piped: 'id\n' })]).toEqual([argv[0], expect.objectContaining({ code: 0 })])
  }
  expect(await query(url, 'SHOW statement_timeout', { limited: true })).toEqual([{ statement_timeout: '5s' }])
})
