import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { filledDatabase } from '../commands/filled-database.ts'
import { misused, run } from '../commands/run.ts'
import { query } from '../support/databases.ts'

const SECRETS_KEY = randomBytes(32).toString('base64')

describe('a restore of a backup that is older than removals', () => {
  const filled = filledDatabase()
  let env: Record<string, string>
  let [backup, list, kid] = ['', '', '']

  /** Of what the tests remove. */
  const stored = async () => {
    const [row] = await query(
      env.DATABASE_URL!,
      `SELECT EXISTS (SELECT FROM "Person" WHERE id = 'anna') AS anna, EXISTS (SELECT FROM "Client" WHERE id = 'hobby-app') AS client,
         (SELECT "secretHash" FROM "Client" WHERE id = 'billing') AS hash,
         EXISTS (SELECT FROM "SigningKey" WHERE kid = '${kid}') AS key`,
    )
    return row
  }
  const succeed = async (...args: string[]) => {
    const result = await run(args, env)
    expect(result, args.join(' ')).toMatchObject({ code: 0 })
    return result
  }
  const billing = [
    'client',
    'add',
    '--first-party',
    '--id',
    'billing',
    '--name',
    'Billing',
    '--scope',
    'directory:read',
  ]
  const restore = (...more: string[]) => run(['restore', backup, '--yes', ...more], env)

  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'member-apps-repeat-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    env = { ...filled, SECRETS_KEY, LOG_LEVEL: 'error' }
    backup = join(folder, 'backup')
    list = join(folder, 'removals')
    await succeed(...billing)
    await succeed('keys', 'rotate', '--now')
    kid = /^\S+/.exec((await succeed('keys', 'list')).stdout)![0]
    await succeed('backup', backup)
  })

  it('repeats what the list has, also a second time', async () => {
    const before = await stored()
    const { hash: old } = before!
    expect(before).toEqual({ anna: true, client: true, hash: expect.any(String), key: true })
    const printed = [
      await succeed('member', 'erase', '--member', 'anna', '--yes', '--log', list),
      await succeed(...billing, '--replace', '--log', list),
      await succeed('client', 'remove', '--id', 'hobby-app', '--yes', '--log', list),
      await succeed('keys', 'revoke', kid, '--log', list),
    ]
    const after = { ...before, anna: false, client: false, hash: expect.not.stringMatching(old), key: false }
    const now = await stored()
    expect(now).toEqual(after)
    // Standard error has the same lines, for where no file is kept.
    expect(await readFile(list, 'utf8')).toBe(printed.map(({ stderr }) => stderr).join(''))
    expect((await stat(list)).mode & 0o777).toBe(0o600)

    const names = ['member.erase anna', 'client.credentials billing', 'client.remove hobby-app', `key.revoke ${kid}`]
    const done = await restore('--repeat', list)
    expect([done.code, done.stderr]).toEqual([0, ''])
    expect(done.stdout).toMatch(new RegExp(`\nRestored: .*\n${names.map((name) => `Repeated: ${name}\n`).join('')}$`))
    expect(await stored()).toEqual(now)

    // The log of a service, as a collector may have it, has the lines among others.
    const log = `${list}.log`
    const lines = (await readFile(list, 'utf8')).trim().split('\n')
    await writeFile(log, ['no JSON', '{"msg":"started"}', ...lines.map((line) => `node-1 | ${line}`), ''].join('\n'))
    const again = await restore('--repeat', list, '--repeat', log)
    expect(again.stdout).toMatch(/Repeated: member.erase anna\nNothing to repeat: member.erase anna\n/)
    expect(await stored()).toEqual(now)

    expect((await restore('--nothing-to-repeat')).stdout).toMatch(/\nRestored: .*\n$/)
    expect(await stored()).toEqual(before)
  })

  it('leaves what was removed before the backup, and has come back since', async () => {
    const before = await stored()
    const line = { time: '2026-01-01T00:00:00.000Z', repeat: 'member.erase', person: 'anna' }
    await writeFile(list, `${JSON.stringify(line)}\n`)
    expect(await restore('--repeat', list)).toMatchObject({ code: 0, stdout: expect.not.stringContaining('epeat') })
    expect(await stored()).toEqual(before)
  })

  it('is refused without a list, with one that cannot be read or was damaged, and changes nothing', async () => {
    await query(env.DATABASE_URL!, `DELETE FROM "Client" WHERE id = 'hobby-app'`)
    const before = await stored()
    const sentence = '--repeat is needed, with the list of what was removed since the backup, or --nothing-to-repeat.'
    await writeFile(list, '{}\n{"time":"2026-01-01T00:00:00.000Z","repeat":"member.erase","per')
    expect(await restore()).toEqual(misused(sentence))
    expect(await restore('--repeat', list, '--nothing-to-repeat')).toEqual(misused(sentence))
    expect(await restore('--repeat', list)).toMatchObject({
      code: 1,
      stderr: `Nothing was restored: ${list}, line 2 is not as it was written.\n`,
    })
    expect(await restore('--repeat', `${list}.none`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENOENT'),
    })
    expect(await stored()).toEqual(before)
  })

  it('is told nothing by a command whose list cannot be written, as nothing was removed', async () => {
    const before = await stored()
    const nowhere = ['--log', join(list, 'none')]
    for (const args of [
      ['member', 'erase', '--member', 'anna', '--yes'],
      ['client', 'remove', '--id', 'hobby-app', '--yes'],
      [...billing, '--replace'],
      ['keys', 'revoke', kid],
    ]) {
      expect(await run([...args, ...nowhere], env)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('ENOENT'),
      })
    }
    expect(await stored()).toEqual(before)
  })
})
