import { readdir } from 'node:fs/promises'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { freshDatabase } from './external.ts'
import { asAnna, command, dataDirectory, start } from './service.ts'

const anna = ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app']

describe('the token command', { timeout: 60_000 }, () => {
  it('prints one token and nothing else, before the first start and without a database', async () => {
    const DATA_DIR = await dataDirectory()
    const { token, claims } = await minted(anna, { DATA_DIR, DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' })
    expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    expect(claims).toMatchObject({ sub: 'anna', organisation: 'riverside', client_id: 'trainer-app' })
    expect(claims.exp! - claims.iat!).toBe(3600)
    expect(await readdir(DATA_DIR)).toEqual(['development-key.json'])

    const DATABASE_URL = await freshDatabase()
    await command('seed', [], { DATA_DIR, DATABASE_URL }).ended
    const service = await start({ DATA_DIR, DATABASE_URL })
    expect(await asAnna(service, 'GET', '/me/profile', undefined, token)).toMatchObject({
      status: 200,
      body: { id: 'anna' },
    })
    const reading = await minted([...anna, '--scope', 'svc.me.profile:read'], { DATA_DIR })
    const refused = await asAnna(service, 'GET', '/me/groups', undefined, reading.token)
    expect([refused.status, refused.body]).toEqual([
      403,
      { detail: 'This token does not carry the svc.me.groups:read scope.' },
    ])
    const expired = await minted([...anna, '--expires-in=-1'], { DATA_DIR })
    const late = await asAnna(service, 'GET', '/me/profile', undefined, expired.token)
    expect([late.status, late.body.error.message]).toEqual([401, 'This token has expired.'])
    await service.stop()
  })

  it('takes every scope when none is asked for, else those, and the names as they are', async () => {
    const DATA_DIR = await dataDirectory()
    expect((await minted(anna, { DATA_DIR })).claims.scope).toMatch(/^\S+( \S+){10}$/)
    const args = ['--member', 'Zoë <z@example.org>', '--club', 'ghost town', '--client', '-', '--expires-in', '5']
    const { claims } = await minted([...args, '--scope', 'a b'], { DATA_DIR })
    expect(claims).toMatchObject({
      sub: 'Zoë <z@example.org>',
      organisation: 'ghost town',
      client_id: '-',
      scope: 'a b',
    })
    expect(claims.exp! - claims.iat!).toBe(5)
    expect((await minted([...anna, '--scope', ''], { DATA_DIR })).claims.scope).toBe('')
  })

  it('agrees on one key when it is run twice at once on an empty directory', async () => {
    const DATA_DIR = await dataDirectory()
    const tokens = await Promise.all([anna, anna, anna, anna].map((args) => minted(args, { DATA_DIR })))
    expect(new Set(tokens.map(({ token }) => decodeProtectedHeader(token).kid)).size).toBe(1)
    expect(await readdir(DATA_DIR)).toEqual(['development-key.json'])
  })

  it('refuses, with the reason, when another issuer is configured', async () => {
    const DATA_DIR = await dataDirectory()
    const ended = await command('token', anna, { DATA_DIR, TOKEN_ISSUER: 'https://id.example.org' }).ended
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toBe(
      'TOKEN_ISSUER is set: https://id.example.org issues the tokens, and the service refuses our own.\n',
    )
    expect(await readdir(DATA_DIR)).toEqual([])
  })

  it.each([
    { args: ['--member', 'anna'], says: '--club and --client are needed, and --member but for first-party clients:' },
    { args: [...anna, '--expires-in', 'soon'], says: '--expires-in is a number of seconds:' },
    { args: [...anna, '--colour', 'red'], says: "Unknown option '--colour'" },
  ])('says what is wrong with $args', async ({ args, says }) => {
    const ended = await command('token', args, { DATA_DIR: await dataDirectory() }).ended
    expect(ended).toMatchObject({ code: 1, stdout: '' })
    expect(ended.stderr).toContain(says)
  })
})

async function minted(args: string[], env: Record<string, string>) {
  const { code, stdout, stderr } = await command('token', args, env).ended
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  const token = stdout.trimEnd()
  return { token, claims: decodeJwt(token) }
}
