import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { annaIn, dataDirectoryWithCluster, issueToken, run, start } from '../../process/service.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

it('the packages that a service serves install from loopback alone, into an empty folder, and call it', async () => {
  const env = { DATA_DIR: await dataDirectoryWithCluster() }
  const service = await start(env)
  const address = `http://127.0.0.1:${service.port}`
  const folder = await temporaryDirectory()
  const npm = (...args: string[]) =>
    promisify(execFile)('npm', args, {
      cwd: folder,
      // Nothing listens there: a package with a dependency fails.
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        npm_config_registry: 'http://127.0.0.1:1/',
        npm_config_fetch_retries: '0',
      },
    })
  await npm('install', '--no-audit', '--no-fund', `${address}/sdk.tgz`, `${address}/first-party.tgz`)
  await writeFile(
    join(folder, 'first-call.mjs'),
    `import { createClient } from '@member-apps/sdk'
     import '@member-apps/sdk/browser'
     import { verifyWebhook } from '@member-apps/sdk/webhooks'
     import { createClient as firstParty } from 'member-apps-client'
     const api = createClient({ apps: process.env.API, tokens: process.env.TOKEN })
     console.log((await api.me.profile()).firstName, typeof verifyWebhook, typeof firstParty)`,
  )
  const token = await issueToken(env, ...annaIn('riverside'))
  const called = run([join(folder, 'first-call.mjs')], { API: `${address}/apps/v1`, TOKEN: token })
  expect(await called.ended).toMatchObject({ code: 0, stdout: 'Anna function function\n', stderr: '' })
  const { stdout } = await npm('exec', '--', 'member-apps-sdk', '--help')
  expect(stdout).toContain('member-apps-sdk init')
  await service.stop()
})
