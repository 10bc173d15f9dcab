import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { failed, misused, run } from './run.ts'

const anna = ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app']

describe('the token command', () => {
  it('prints one token and nothing else, without a database', async () => {
    const DATA_DIR = await directory()
    const { token, claims } = await minted(anna, { DATA_DIR, DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' })
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    expect(claims).toMatchObject({ sub: 'anna', organisation: 'riverside', client_id: 'trainer-app' })
    expect(claims.exp! - claims.iat!).toBe(3600)
    expect(await readdir(DATA_DIR)).toEqual(['development-key.json'])
  })

  it('grants every scope by default, else the given ones, and takes the names as they are', async () => {
    const DATA_DIR = await directory()
    expect((await minted(anna, { DATA_DIR })).claims.scope).toBe(memberScopes.join(' '))
    const args = ['--member', 'Zoë <z@example.org>', '--club', 'ghost town', '--client', '-', '--expires-in', '5']
    const { claims } = await minted([...args, '--scope', 'a b'], { DATA_DIR })
    expect(claims).toMatchObject({
      sub: 'Zoë <z@example.org>',
      organisation: 'ghost town',
      client_id: '-',
      scope: 'a b',
    })
    expect(claims.exp! - claims.iat!).toBe(5)
    const expired = await minted([...anna, '--expires-in=-1'], { DATA_DIR })
    expect(expired.claims.exp! - expired.claims.iat!).toBe(-1)
    expect((await minted([...anna, '--scope', ''], { DATA_DIR })).claims.scope).toBe('')
  })

  it('names no member without --member', async () => {
    const args = ['--club', 'provider', '--client', 'platform']
    expect((await minted(args, { DATA_DIR: await directory() })).claims.sub).toBeUndefined()
  })

  it('uses one key when several run at once on an empty directory', async () => {
    const DATA_DIR = await directory()
    const tokens = await Promise.all([anna, anna, anna, anna].map((args) => minted(args, { DATA_DIR })))
    expect(new Set(tokens.map(({ token }) => decodeProtectedHeader(token).kid)).size).toBe(1)
    expect(await readdir(DATA_DIR)).toEqual(['development-key.json'])
  })

  it('exits 1 when another issuer is configured', async () => {
    const DATA_DIR = await directory()
    expect(await run(['token', ...anna], { DATA_DIR, TOKEN_ISSUER: 'https://id.example.org' })).toEqual(
      failed('TOKEN_ISSUER is set: https://id.example.org issues the tokens, and the service refuses its own.\n'),
    )
    expect(await readdir(DATA_DIR)).toEqual([])
  })

  it('exits 1 in production, unless DEVELOPMENT_TOKENS says otherwise', async () => {
    const env = { DATA_DIR: await directory(), NODE_ENV: 'production' }
    expect(await run(['token', ...anna], env)).toEqual(
      failed('The service refuses development tokens here: it accepts them with DEVELOPMENT_TOKENS=true.\n'),
    )
    expect(await readdir(env.DATA_DIR)).toEqual([])
    await minted(anna, { ...env, DEVELOPMENT_TOKENS: 'true' })
  })

  it.each([
    [['--member', 'anna'], '--club and --client are required.'],
    [[...anna, '--member', ''], "Option '--member <MEMBER>' argument '' is invalid. It is empty."],
    [[...anna, '--expires-in', 'soon'], '--expires-in must be a number of seconds.'],
    [[...anna, '--colour', 'red'], "Unknown option '--colour'"],
  ])('exits 2 when its arguments are %j', async (args, message) => {
    expect(await run(['token', ...args], { DATA_DIR: await directory() })).toEqual(misused(message))
  })
})

async function directory() {
  const path = await mkdtemp(join(tmpdir(), 'member-apps-token-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

async function minted(args: string[], env: Record<string, string>) {
  const { code, stdout, stderr } = await run(['token', ...args], env)
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  const token = stdout.trimEnd()
  return { token, claims: decodeJwt(token) }
}
