import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { query } from '../support/databases.ts'
import { keepRows } from '../support/kept-rows.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run, succeeded } from './run.ts'

const SECRETS_KEY = randomBytes(32).toString('base64')
const SINCE = '2026-01-02T00:00:00.000Z'
const billing = ['client', 'add', '--first-party', '--id', 'billing', '--name', 'Billing', '--scope', 'directory:read']

describe('the removals command', () => {
  const filled = filledDatabase()
  let env: Record<string, string>
  let [list, kid] = ['', '']
  /** Puts the rows back that a backup would have. */
  let restore: () => Promise<void>

  /** The rows that the tests remove. */
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
  const removals = (...args: string[]) => run(['removals', ...args], env)

  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'member-apps-removals-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    env = { ...filled, SECRETS_KEY, LOG_LEVEL: 'error' }
    list = join(folder, 'removals')
    await succeed(...billing)
    await succeed('keys', 'rotate', '--now')
    kid = /^\S+/.exec((await succeed('keys', 'list')).stdout)![0]
    restore = await keepRows(env.DATABASE_URL!)
  })

  it('repeats what the lists have, also a second time', async () => {
    const before = await stored()
    expect(before).toEqual({ anna: true, client: true, hash: expect.any(String), key: true })
    const printed = [
      await succeed('member', 'erase', '--member', 'anna', '--yes', '--log', list),
      await succeed(...billing, '--replace', '--log', list),
      await succeed('client', 'remove', '--id', 'hobby-app', '--yes', '--log', list),
      await succeed('keys', 'revoke', kid, '--log', list),
    ]
    const now = await stored()
    const hash = expect.not.stringMatching(before!.hash)
    expect(now).toEqual({ anna: false, client: false, hash, key: false })
    // Standard error has the same lines, for where no file is kept.
    expect(await readFile(list, 'utf8')).toBe(printed.map(({ stderr }) => stderr).join(''))
    expect((await stat(list)).mode & 0o777).toBe(0o600)

    await restore()
    expect(await stored()).toEqual(before)
    const names = ['member.erase anna', 'client.credentials billing', 'client.remove hobby-app', `key.revoke ${kid}`]
    const repeated = names.map((name) => `Repeated: ${name}\n`).join('')
    expect(await removals('--since', SINCE, list)).toEqual(succeeded(repeated))
    expect(await stored()).toEqual(now)

    // The log of a service, as a collector may have it, has the lines among others.
    await restore()
    const log = `${list}.log`
    const lines = (await readFile(list, 'utf8')).trim().split('\n')
    await writeFile(log, ['no JSON', '{"msg":"started"}', ...lines.map((line) => `node-1 | ${line}`), ''].join('\n'))
    const again = await removals('--since', SINCE, list, log)
    expect(again.stdout).toMatch(/Repeated: member.erase anna\nNothing to repeat: member.erase anna\n/)
    expect(await stored()).toEqual(now)
  })

  it.each([
    ["Docker's json-file", (line: string) => ({ log: `${line}\n`, stream: 'stderr', time: '2026-01-03T00:00:00.1Z' })],
    ['journalctl -o json', (line: string) => ({ __CURSOR: 's=1', MESSAGE: line, PRIORITY: '6' })],
    ['a collector', (line: string) => ({ '@timestamp': '2026-01-03T00:00:00.1Z', message: line })],
  ])('repeats the lines that %s has wrapped', async (_, wrap) => {
    const line = { time: '2026-01-03T00:00:00.000Z', repeat: 'member.erase', person: 'anna' }
    const quoting = { level: 30, msg: 'refused', path: JSON.stringify({ ...line, person: 'ben' }) }
    const lines = [quoting, line].map((each) => JSON.stringify(wrap(JSON.stringify(each))))
    await writeFile(list, [JSON.stringify(quoting), ...lines, ''].join('\n'))
    expect(await removals('--since', SINCE, list)).toEqual(succeeded('Repeated: member.erase anna\n'))
  })

  it('repeats nothing of a file that is compressed or not UTF-8, nor of lines in an unknown form', async () => {
    const line = JSON.stringify({ time: '2026-01-03T00:00:00.000Z', repeat: 'member.erase', person: 'anna' })
    const refused = (message: string) => failed(expect.stringContaining(`Nothing was repeated: ${list}${message}`))
    const contents = [gzipSync(line), Buffer.from('KLUv/SAF', 'base64'), Buffer.from(`\ufeff${line}`, 'utf16le')]
    for (const content of contents) {
      await writeFile(list, content)
      expect(await removals('--since', SINCE, list)).toEqual(refused(' is compressed or UTF-16.'))
    }
    await writeFile(list, `{"level":30}\n${JSON.stringify({ text: line })}\n`)
    expect(await removals('--since', SINCE, list)).toEqual(
      refused(", line 2 has the service's line in an unknown form."),
    )
    expect(await stored()).toMatchObject({ anna: true })
  })

  it('leaves what was removed over a minute before the backup, and has come back since', async () => {
    const line = (time: string) => `${JSON.stringify({ time, repeat: 'member.erase', person: 'anna' })}\n`
    await writeFile(list, line('2026-01-01T23:58:59.999Z'))
    const nothing = succeeded(`Nothing was removed since ${SINCE}.\n`)
    expect(await removals('--since', SINCE, list)).toEqual(nothing)
    expect(await stored()).toMatchObject({ anna: true })
    await writeFile(list, line('2026-01-01T23:59:00.000Z'))
    const offset = '2026-01-02T01:00:00+01:00'
    expect(await removals('--since', offset, list)).toEqual(succeeded('Repeated: member.erase anna\n'))
    expect(await stored()).toMatchObject({ anna: false })
  })

  it('removes nothing without a time or a list, or with a list that cannot be read or was damaged', async () => {
    const before = await stored()
    const whole = '{"time":"2026-01-03T00:00:00.000Z","repeat":"member.erase","person":"anna"}'
    await writeFile(list, `${whole}\n${whole.slice(0, -2)}`)
    expect(await removals(list)).toEqual(misused('--since is required.'))
    expect(await removals('--since', 'yesterday', list)).toEqual(
      misused('--since is required: the time when the backup began.'),
    )
    expect(await removals('--since', SINCE)).toEqual(misused("Missing required argument 'FILE'"))
    expect(await removals('--since', SINCE, list)).toMatchObject({
      code: 1,
      stderr: `Nothing was repeated: ${list}, line 2 has been altered.\n`,
    })
    expect(await removals('--since', SINCE, `${list}.none`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ENOENT'),
    })
    expect(await stored()).toEqual(before)
  })

  it("erases nobody with a key that is not the database's, nor without one: hashes in the request log would stay", async () => {
    const line = { time: '2026-01-03T00:00:00.000Z', repeat: 'member.erase', person: 'anna' }
    const ended = { ...line, time: '2026-01-02T12:00:00.000Z', repeat: 'client.remove', client: 'hobby-app' }
    await writeFile(list, `${JSON.stringify(ended)}\n${JSON.stringify(line)}\n`)
    const before = await stored()
    const other = { ...env, SECRETS_KEY: randomBytes(32).toString('base64') }
    const none = { ...env, SECRETS_KEY: undefined, DATA_DIR: `${list}.none` }
    for (const wrong of [other, none]) {
      const refused = failed(expect.stringMatching(/^SECRETS_KEY is not the key that encrypted the secrets in this /))
      expect(await run(['member', 'erase', '--member', 'anna', '--yes'], wrong)).toEqual(refused)
      expect(await run(['removals', '--since', SINCE, list], wrong)).toEqual(refused)
    }
    expect(await stored()).toEqual(before)
  })

  it('misses nothing of a command whose list cannot be written, as that removes nothing', async () => {
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
