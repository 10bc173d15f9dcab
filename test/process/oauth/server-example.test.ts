import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { asPerson } from '../../developer/team.ts'
import { addPeople } from '../../developer/team-world.ts'
import { redirectUri, register, startAuthWorld } from '../../oauth/auth-world.ts'
import { authBaseUrl } from '../../support/world.ts'

const run = promisify(execFile)
const scope = 'svc.me.profile:read'

it("a server's documented lines redeem a code and renew with a secret of the portal", async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/apps.md'), 'utf8')
  const [, block] = /^## Apps with a server.*?```sh\n(.*?)```/ms.exec(page)!
  const [redeem, renew] = block!.split(/\n(?=curl )/)
  const auth = await startAuthWorld()
  onTestFinished(() => auth.world.close())
  const home = await mkdtemp(join(tmpdir(), 'member-apps-curl-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  await writeFile(join(home, '.curlrc'), `silent\nnoproxy = "*"\nconnect-to = "::127.0.0.1:${auth.world.publicPort}"\n`)
  const answer = async (line: string, fields: Record<string, string>) => {
    const env = { ...process.env, CURL_HOME: home, AUTH_BASE_URL: authBaseUrl, ...fields }
    return JSON.parse((await run('bash', ['-c', line], { env })).stdout)
  }

  const { owner } = await addPeople(auth.world)
  const client = await register(auth.world)
  const { clients } = asPerson(auth.world, owner)
  const { secret } = await clients.secrets.create({ client })
  await clients.setAuthentication({ client, version: 0, authentication: 'client_secret' })
  const { code, verifier } = await auth.toCode({ client, scope }, auth.world.ids.member, auth.world.ids.club)
  const own = { CLIENT_ID: client, CLIENT_SECRET: secret }
  const form = { CODE: code, VERIFIER: verifier, REDIRECT_URI: redirectUri }
  expect(await answer(redeem!, { ...own, ...form, CLIENT_SECRET: 'wrong' })).toMatchObject({ error: 'invalid_client' })
  const tokens = await answer(redeem!, { ...own, ...form })
  expect(tokens).toMatchObject({ scope, refresh_token: expect.any(String) })
  const renewed = await answer(renew!, { ...own, REFRESH_TOKEN: tokens.refresh_token })
  expect(renewed).toMatchObject({ scope, access_token: expect.any(String) })
})
