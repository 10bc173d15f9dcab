import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decodeJwt } from 'jose'
import { expect, it, onTestFinished } from 'vitest'
import { emptyDatabase } from '../support/databases.ts'
import { command, dataDirectory, send, start } from './service.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const blocks = async (language: string) =>
  [...(await readFile(join(root, 'docs/first-party.md'), 'utf8')).matchAll(/```(\w+)\n(.*?)```/gs)]
    .filter(([, of]) => of === language)
    .map(([, , text]) => text!)

it('a first-party client gets its tokens in production by the printed and the documented lines', async () => {
  const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase(), NODE_ENV: 'production' }
  await command('seed', ['--yes'], env).ended
  const service = await start(env)
  const AUTH_BASE_URL = `http://auth.localhost:${service.port}/v1`
  const client = async (...args: string[]) => {
    const { code, stdout, stderr } = await command('client', args, { ...env, AUTH_BASE_URL }).ended
    const replaced = '"repeat":"client.credentials"'
    expect([code, stderr]).toEqual([0, args.includes('--replace') ? expect.stringContaining(replaced) : ''])
    return stdout
  }
  const sh = async (line: string, more: Record<string, string> = {}, cwd = root) => {
    const { stdout } = await run('bash', ['-c', line], { cwd, env: { ...process.env, AUTH_BASE_URL, ...more } })
    return stdout
  }
  const published = async (answer: string) => {
    const { access_token } = JSON.parse(answer)
    const headers = { authorization: `Bearer ${access_token}` }
    const app = decodeJwt(access_token).organisation === 'provider' ? 'trainer-app' : 'foreign-app'
    const body = { app, type: 'member.joined', data: 1 }
    return (await send(service.internalPort, 'POST', '/trpc/events.publish', { headers, body })).status
  }
  const [add, withSecret, openssl, withAssertion] = await blocks('sh')

  /** The arguments of a printed line, as a shell reads them. */
  const wordsOf = async (line: string) =>
    (await sh(`printf '%s\n' ${line.split('member-apps client ')[1]}`)).trimEnd().split('\n')
  const words = await wordsOf(add!)
  const printed = (await client(...words)).split('\n').find((line) => line.startsWith('curl '))!
  expect(await published(await sh(`${printed} --silent`))).toBe(200)
  const CLIENT_SECRET = /billing:([\w-]+)'/.exec(printed)![1]!
  expect(await published(await sh(`${withSecret!.trim()} --silent`, { CLIENT_SECRET }))).toBe(200)

  const directory = await mkdtemp(join(tmpdir(), 'member-apps-billing-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const [generate, publish, ...replace] = openssl!.trim().split('\n')
  await sh(`${generate} && ${publish}`, {}, directory)
  const withKeys = await wordsOf(replace.join('\n'))
  await client(...withKeys.map((word) => (word === 'billing.pub' ? join(directory, word) : word)))
  // The former secret ends at once.
  expect(JSON.parse(await sh(`${withSecret!.trim()} --silent`, { CLIENT_SECRET })).error).toBe('invalid_client')
  const script = (await blocks('ts')).find((text) => text.includes('SignJWT'))!
  await writeFile(join(directory, 'assertion.mjs'), script.replace("'jose'", `'${import.meta.resolve('jose')}'`))
  const { access_token } = JSON.parse(await sh(`${withAssertion!.trim()} --silent`, {}, directory))
  expect(decodeJwt(access_token)).toMatchObject({ sub: 'billing', organisation: 'academy', scope: 'lms.reviews:write' })
  await service.stop()
})
