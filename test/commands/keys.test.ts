import { describe, expect, it } from 'vitest'
import { newKey } from '../process/secrets-tenant.ts'
import { filledDatabase } from './filled-database.ts'
import { failed, misused, run, succeeded } from './run.ts'

const states = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^[\w-]{8,36} {2}(?:ES256|RS256)(?: for cards)? {2}from \S+Z {2}/, ''))

describe('the keys command', () => {
  const env = filledDatabase()

  it('lists the keys, publishes a new one with rotate, and signs with it at once with --now', async () => {
    const withKey = { ...env, SECRETS_KEY: newKey() }
    expect(await run(['keys', 'list'], withKey)).toEqual(succeeded(''))
    expect(states((await run(['keys', 'rotate', '--now'], withKey)).stdout)).toEqual(['signs'])
    expect(states((await run(['keys', 'rotate'], withKey)).stdout)).toEqual(['will sign', 'signs'])
    const { stdout } = await run(['keys', 'rotate', '--now'], withKey)
    expect(states(stdout)).toEqual(['will sign', 'signs', 'verifies what it has signed'])
    expect(await run(['keys', 'list'], withKey)).toEqual(succeeded(stdout))

    const other = await run(['keys', 'list'], { ...env, SECRETS_KEY: newKey() })
    expect(states(other.stdout)).toEqual(Array(3).fill('encrypted with another SECRETS_KEY'))
  })
})

describe('keys rotate --algorithm RS256', () => {
  const env = filledDatabase()

  it('publishes a key for ID tokens, beside those for access tokens', async () => {
    const withKey = { ...env, SECRETS_KEY: newKey() }
    await run(['keys', 'rotate', '--now'], withKey)
    await run(['keys', 'rotate', '--algorithm', 'RS256', '--now'], withKey)
    const { stdout } = await run(['keys', 'rotate', '--algorithm', 'RS256'], withKey)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.split('  ')[1])).toEqual(['ES256', 'RS256', 'RS256'])
    expect(states(stdout)).toEqual(['signs', 'will sign', 'signs'])
    const signing = lines[2]!.split('  ')[0]!
    const revoked = await run(['keys', 'revoke', signing], withKey)
    expect(states(revoked.stdout)).toEqual(['signs', 'will sign', 'signs'])
    expect(revoked.stdout).not.toContain(signing)
  })
})

describe('keys rotate --cards', () => {
  const env = filledDatabase()

  it('publishes a key for the codes of cards, which signs a day later', async () => {
    const withKey = { ...env, SECRETS_KEY: newKey() }
    await run(['keys', 'rotate', '--now'], withKey)
    const before = Date.now()
    const { stdout } = await run(['keys', 'rotate', '--cards', '--json'], withKey)
    const [token, card, ...others] = JSON.parse(stdout)
    expect(token).toMatchObject({ algorithm: 'ES256', use: 'tokens', state: 'signs' })
    expect(card).toMatchObject({ id: expect.stringMatching(/^[\w-]{8}$/), use: 'cards', state: 'will sign' })
    expect(Date.parse(card.signsFrom) - before).toBeGreaterThanOrEqual(86_400_000)
    expect(others).toEqual([])
    expect(states((await run(['keys', 'list'], withKey)).stdout)).toEqual(['signs', 'will sign'])
    const revoked = await run(['keys', 'revoke', '--', card.id], withKey)
    expect(states(revoked.stdout)).toEqual(['signs'])
    expect(await run(['keys', 'rotate', '--cards', '--algorithm', 'RS256'], withKey)).toMatchObject({ code: 2 })
  })
})

describe('keys revoke', () => {
  const env = filledDatabase()

  it('deletes a key at once; for the one that signs, another one signs', async () => {
    const withKey = { ...env, SECRETS_KEY: newKey() }
    const findIds = (stdout: string) => stdout.split('\n').flatMap((line) => line.match(/^[\w-]{36}/) ?? [])
    await run(['keys', 'rotate', '--now'], withKey)
    const [signing, old] = findIds((await run(['keys', 'rotate', '--now'], withKey)).stdout)
    const kept = await run(['keys', 'revoke', old!], withKey)
    expect([kept.code, findIds(kept.stdout), states(kept.stdout)]).toEqual([0, [signing], ['signs']])

    const replaced = await run(['keys', 'revoke', signing!], withKey)
    expect([replaced.code, states(replaced.stdout)]).toEqual([0, ['signs']])
    expect(findIds(replaced.stdout)).not.toContain(signing)
    expect(await run(['keys', 'revoke', signing!], withKey)).toEqual(failed(`Key ${signing} does not exist.\n`))
    expect(await run(['keys', 'list'], withKey)).toEqual(succeeded(replaced.stdout))
  })
})

describe("a key that is not the database's", () => {
  const env = filledDatabase()

  it('changes nothing with rotate and revoke', async () => {
    const withKey = { ...env, SECRETS_KEY: newKey() }
    const { stdout } = await run(['keys', 'rotate', '--now', '--json'], withKey)
    const [{ id }] = JSON.parse(stdout)
    const refused = failed(expect.stringMatching(/^SECRETS_KEY is not the key that encrypted the secrets in this /))
    const withOther = { ...env, SECRETS_KEY: newKey() }
    for (const args of [['rotate'], ['rotate', '--now'], ['rotate', '--cards'], ['revoke', id]])
      expect(await run(['keys', ...args], withOther), args.join(' ')).toEqual(refused)
    expect(await run(['keys', 'list', '--json'], withKey)).toEqual(succeeded(stdout))
  })
})

describe('wrong settings and arguments of the keys command', () => {
  it('exit 1 when another issuer is configured', async () => {
    const elsewhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing', TOKEN_ISSUER: 'https://id.example.org' }
    expect(await run(['keys', 'rotate'], elsewhere)).toEqual(
      failed('TOKEN_ISSUER is set: https://id.example.org issues the tokens and has their keys.\n'),
    )
  })

  it.each([
    [[], ''],
    [['revoke'], "Missing required argument 'ID'"],
    [['revoke', 'one', 'two'], "Too many arguments for 'revoke'."],
    [
      ['rotate', '--algorithm', 'HS256'],
      "Option '--algorithm <ALGORITHM>' argument 'HS256' is invalid. Allowed choices are ES256, RS256.",
    ],
    [['list', '--now'], "Unknown option '--now'"],
  ])('exit 2 when the arguments are %j', async (args, message) => {
    expect(await run(['keys', ...args], {})).toEqual(misused(message))
  })
})
