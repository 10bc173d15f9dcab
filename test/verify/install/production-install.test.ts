import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { dataDirectory, freePort, run, send, start } from '../../process/service.ts'
import { emptyDatabase } from '../../support/databases.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { endingAfterAll } from '../at-end.ts'
import { noteFigure } from '../noted-figure.ts'

const execute = promisify(execFile)
const root = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const atEnd = endingAfterAll()
let app: string
beforeAll(async () => {
  app = await dataDirectory(atEnd)
  const files = [
    'package.json',
    'package-lock.json',
    'dist',
    'deploy/healthcheck.mjs',
    'prisma/functions',
    'prisma/migrations',
    'prisma/upgrade',
  ]
  for (const file of files) await cp(root(file), join(app, file), { recursive: true })
})

const megabytes = async (path: string) => Number.parseInt((await execute('du', ['-sm', path], { cwd: app })).stdout, 10)

// As the Dockerfile does it: without node_modules, until the last test.
describe.skipIf(process.platform === 'win32')('an installation for production', () => {
  it('migrates, registers a client, serves, is healthy as the image asks, and ends', async () => {
    const [PORT, INTERNAL_PORT] = (await Promise.all([freePort(), freePort()])).map(String) as [string, string]
    const own = { NODE_ENV: 'production', DATABASE_URL: await emptyDatabase(), SECRETS_KEY }
    const env = { ...own, PORT, INTERNAL_PORT, INTERNAL_HOST: '0.0.0.0' }
    const inApp = (...args: string[]) => run(args, env, { cwd: app })
    const command = (...args: string[]) => inApp('dist/server/commands/main.js', ...args).ended
    expect(await command('migrate')).toMatchObject({ code: 0 })
    expect(await command('seed', '--yes')).toMatchObject({ code: 0 })
    expect(await command('client', 'list')).toMatchObject({ code: 0, stdout: expect.stringContaining('trainer-app') })
    const check = (...args: string[]) => inApp('deploy/healthcheck.mjs', ...args).ended
    expect(await check()).toMatchObject({ code: 1, stderr: expect.stringMatching(/^\/healthz: .*ECONNREFUSED/) })

    const service = inApp('dist/server/main.js')
    await expect.poll(() => service.stdout() + service.stderr()).toContain('the service listens')
    expect(await check()).toMatchObject({ code: 0 })
    expect(await check('/readyz')).toMatchObject({ code: 0 })
    expect(await check('/nothing')).toMatchObject({ code: 1, stderr: '/nothing: 404\n' })
    const headers = { host: 'apps.localhost' }
    expect((await send(Number(PORT), 'GET', '/v1/openapi.json', { headers })).status).toBe(200)
    for (const path of ['/docs', '/docs/apps', '/docs/search?q=quota', '/docs/images/reference.png'])
      expect([path, (await send(Number(PORT), 'GET', path, { headers })).status]).toEqual([path, 200])
    expect((await send(Number(PORT), 'GET', '/v1/me/profile', { headers })).status).toBe(401)
    service.child.kill('SIGTERM')
    expect(await service.ended).toMatchObject({ code: 0, stderr: '' })
  })

  it('takes 20 MB, and 75 MB of packages by npm ci --omit=dev, which start a database of its own', async () => {
    await execute('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: app,
    })
    const figures = [
      { name: 'dist', value: await megabytes('dist'), unit: 'MB', bound: 20 },
      { name: 'npm ci', value: await megabytes('node_modules'), unit: 'MB', bound: 75 },
    ]
    for (const figure of figures) {
      noteFigure(figure)
      expect.soft(figure.value, figure.name).toBeLessThanOrEqual(figure.bound)
    }
    const env = { DATA_DIR: await dataDirectory() }
    const service = await start(env, { entry: join(app, 'dist/server/main.js'), cwd: app })
    const command = ['dist/server/commands/main.js', 'client', 'list']
    expect(await run(command, env, { cwd: app }).ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('trainer-app'),
    })
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  })
})
