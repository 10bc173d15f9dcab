import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'
import { documents } from '../../rest-facade/openapi.ts'
import { newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { redirectFault } from '../../routers/developer/shared/registration.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { mintApp } from '../support/platform.ts'
import { send } from '../support/request.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { authWorld, register } from './auth-world.ts'
import { storeSecret } from './client-authentication.ts'

const run = promisify(execFile)
const readRecipe = (page: string) => readFileSync(join(import.meta.dirname, `../../docs/recipes/${page}.md`), 'utf8')
const auth = authWorld({ localUrls: localUrlsAt('http://127.0.0.1') })

/** Programs of the documentation, and what says that they run here. */
const recipes = [
  { page: 'python', program: 'python3', check: ['-c', 'import requests'] },
  { page: 'php', program: 'php', check: ['-r', 'exit(extension_loaded("curl") ? 0 : 1);'] },
]

describe.each(recipes)('the program for $page in the documentation', ({ page, program, check }) => {
  const code = new RegExp(`^\`\`\`${page}\n(.*?)^\`\`\``, 'ms').exec(readRecipe(page))![1]!
  const isThere = spawnSync(program, check).status === 0

  it.skipIf(!isThere)('writes a ranking that members read and cannot write, as it is printed', async () => {
    const { world } = auth
    const secret = newClientSecret()
    const appId = await mintApp(world)
    const client = await register(world, { appId, authentication: 'client_secret' })
    await storeSecret(world, client, secret)
    await consentTo(world, { client })
    const file = join(await temporaryDirectory(), 'ranking')
    await writeFile(file, code)
    const here = localUrlsAt(`http://127.0.0.1:${world.publicPort}`)
    const { stdout } = await run(program, [file], {
      env: {
        ...process.env,
        AUTH_BASE_URL: here.auth,
        SYNC_BASE_URL: here.sync,
        CLIENT_ID: client,
        CLIENT_SECRET: secret,
        ORGANISATION: world.ids.club,
      },
    })
    expect(stdout).toBe('june ben anna\nmay anna ben\n')
    const sub = await mintMember(world)
    const token = await world.token({ sub, client_id: client })
    const read = await world.call('GET', '/storage/ranking/may', { token })
    expect([read.status, read.body.value]).toEqual([200, ['anna', 'ben']])
    const write = await world.call('PUT', '/storage/ranking/may', { token, body: { value: [] } })
    expect(write.status).toBe(403)
    expect((await world.call('GET', '/storage/ranking/may', { token })).body).toEqual(read.body)
  })

  it.skipIf(!isThere)('says what is wrong with a client that may not, and writes nothing', async () => {
    const { world } = auth
    const here = localUrlsAt(`http://127.0.0.1:${world.publicPort}`)
    const file = join(await temporaryDirectory(), 'ranking')
    await writeFile(file, code)
    const where = { clubId: world.ids.club }
    const before = await world.db.storageEntry.count({ where })
    const env = { ...process.env, AUTH_BASE_URL: here.auth, SYNC_BASE_URL: here.sync, ORGANISATION: world.ids.club }
    const ended = await run(program, [file], { env: { ...env, CLIENT_ID: 'nobody', CLIENT_SECRET: 'none' } }).catch(
      (error: { code: number; stdout: string; stderr: string }) => error,
    )
    expect(ended).toMatchObject({ code: expect.any(Number) })
    expect(ended.stdout + ended.stderr).toContain('401')
    expect(await world.db.storageEntry.count({ where })).toBe(before)
  })
})

// test/verify/clients/recipes.test.ts runs them, with packages that are not installed here.
it.each(['react', 'react-native'])('the programs for %s in the documentation are JavaScript and TypeScript', (page) => {
  const blocks = [...readRecipe(page).matchAll(/^```(js|jsx|ts|tsx)\n(.*?)^```/gms)]
  expect(blocks.length).toBeGreaterThan(0)
  for (const [, lang, code] of blocks) parseAst(code!, { lang: lang as 'js' })
})

// Dart is neither on npm nor in Debian.
it('the program for Flutter in the documentation makes requests that the service knows', async () => {
  const { world } = auth
  const text = readRecipe('flutter')
  const find = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!)
  const { issuer: base, ...metadata } = (
    await send(world.publicPort, 'GET', '/.well-known/oauth-authorization-server/v1/oauth', {
      headers: { host: 'auth.test' },
    })
  ).body
  const endpoints = ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint']
  expect(find(/'\$issuer(\/\w+)'/g).map((path) => base + path)).toEqual(endpoints.map((name) => metadata[name]))
  expect(find(/const issuer = '(.*)'/g)).toEqual(['http://auth.localhost:3000/v1/oauth'])
  expect(find(/Uri\.parse\('(http[^$]*)\$path'\)/g)).toEqual(['http://apps.localhost:3000/v1'])

  const [redirectUri] = find(/const redirectUri = '(.*)'/g)
  expect(redirectFault(redirectUri!, 'native', false)).toBeNull()
  const [path] = find(/await get\('([^']+)'\)/g)
  const [name] = find(/\?\['(\w+)'\]/g)
  const get = documents().apps.paths[path!]!.get!
  const scopes = find(/scopes: \['(.*)'\]/g)
  expect(get.security!.flatMap((one) => Object.values(one).flat())).toEqual(expect.arrayContaining(scopes))

  const member = await mintMember(world)
  const token = await world.token({ sub: member, scope: scopes.join(' ') })
  const [header, prefix] = /headers = \{'(\w+)': '(\w+) \$/.exec(text)!.slice(1)
  const answer = await world.call('GET', path!, { headers: { [header!]: `${prefix} ${token}` } })
  expect([answer.status, answer.body[name!]]).toEqual([200, expect.any(String)])

  const client = await register(world, { type: 'native', redirectUris: [redirectUri!] })
  const [fields] = find(/revoke'\), body: (\{.*?\})/g)
  const values: Record<string, string> = { clientId: client, token: 'none' }
  const sent = [...fields!.matchAll(/'(\w+)': (\w+)/g)].map(([, key, value]) => [key!, values[value!]!])
  const body = new URLSearchParams(Object.fromEntries(sent))
  const revoked = await send(world.publicPort, 'POST', '/v1/oauth/revoke', {
    headers: { host: 'auth.test', 'content-type': 'application/x-www-form-urlencoded' },
    body: String(body),
  })
  expect(revoked.status).toBe(200)
})
