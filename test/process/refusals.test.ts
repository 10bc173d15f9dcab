import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { dataDirectory, freePort, launch, postgresOf } from './service.ts'
import { takesAnyPassword } from './trust.ts'

describe('a start fails with one message and leaves nothing running', () => {
  it.each(['PORT', 'INTERNAL_PORT'])('when another process uses %s', async (name) => {
    const [DATA_DIR, port] = [await dataDirectory(), await occupiedPort()]
    const message = new RegExp(`^Cannot listen on port ${port}: another process uses it. ${name}=(\\d+) is free.\n$`)
    const said = await refused({ DATA_DIR, [name]: String(port) })
    expect(said).toMatch(message)
    expect(Number(message.exec(said)![1])).toBeGreaterThan(port)
    expect(await postgresOf(DATA_DIR)).toBe(0)
  })

  it('for an unknown argument, with the usage', async () => {
    const { ended } = await launch({ DATA_DIR: await dataDirectory() }, { args: ['--prot', '1'] })
    const usage = /^Unknown option '--prot'\n\(Did you mean --port\?\)\n\nUsage: member-apps start /
    expect(await ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(usage) })
  })

  it('when --port is taken, or no port', async () => {
    const [DATA_DIR, port] = [await dataDirectory(), await occupiedPort()]
    expect(await refused({ DATA_DIR }, ['--port', String(port)])).toMatch(`Cannot listen on port ${port}: `)
    expect(await refused({ DATA_DIR }, ['--port', 'many'])).toMatch('\n  PORT: "many" is not a port')
  })

  it('when DATA_DIR is a file and the database is external', async () => {
    const DATA_DIR = join(await dataDirectory(), 'file')
    await writeFile(DATA_DIR, '')
    const said = await refused({ DATA_DIR, DATABASE_URL: inject('databaseUrl') })
    expect(said).toMatch(/^DATA_DIR cannot be used: .*\n$/)
  })

  it.each(['127.0.0.1', 'localhost'])('when nothing listens at DATABASE_URL (%s)', async (host) => {
    const [DATA_DIR, port] = [await dataDirectory(), await freePort()]
    const said = await refused({ DATA_DIR, DATABASE_URL: `postgresql://user:canary@${host}:${port}/db` })
    expect(said).toMatch(/^The database cannot be used: .*ECONNREFUSED.*\n$/)
    expect(said).not.toContain('canary')
  })

  it('when the server at DATABASE_URL never answers', async () => {
    const [DATA_DIR, port] = [await dataDirectory(), await occupiedPort()]
    const said = await refused({ DATA_DIR, DATABASE_URL: `postgresql://user:canary@127.0.0.1:${port}/db` })
    expect(said).toMatch(/^The database cannot be used: .*timeout.*\n$/i)
  })

  it('when the password in DATABASE_URL is wrong', async ({ skip }) => {
    const url = new URL(inject('databaseUrl'))
    url.password = 'canary'
    skip(await takesAnyPassword(url.href), 'the server of the tests takes any password')
    const said = await refused({ DATA_DIR: await dataDirectory(), DATABASE_URL: url.href })
    expect(said).toMatch(/^The database cannot be used: password authentication failed for user .*\n$/)
    expect(said).not.toContain('canary')
  })
})

/** What a service said that did not come up. */
async function refused(env: Record<string, string>, args: readonly string[] = []): Promise<string> {
  const { code, signal, stdout, stderr } = await (await launch(env, { args })).ended
  expect([code, signal]).toEqual([1, null])
  // The log may have warned before.
  const others = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  expect(others).toEqual([])
  return stderr
}

/** A port on which somebody listens who never answers. */
async function occupiedPort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
