import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { newClientSecret } from '../../routers/developer/secrets/client-secret.ts'
import { consentTo, mintMember } from '../support/app-server.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { mintApp } from '../support/platform.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { authWorld, register } from './auth-world.ts'
import { storeSecret } from './client-authentication.ts'

const run = promisify(execFile)
const auth = authWorld({ localUrls: localUrlsAt('http://127.0.0.1') })

/** Programs of the documentation, and what says that they run here. */
const recipes = [
  { page: 'python', program: 'python3', check: ['-c', 'import requests'] },
  { page: 'php', program: 'php', check: ['-r', 'exit(extension_loaded("curl") ? 0 : 1);'] },
]

describe.each(recipes)('the program for $page in the documentation', ({ page, program, check }) => {
  const text = readFileSync(join(import.meta.dirname, `../../docs/${page}.md`), 'utf8')
  const code = new RegExp(`^\`\`\`${page}\n(.*?)^\`\`\``, 'ms').exec(text)![1]!
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
