import { execFile } from 'node:child_process'
import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import { asAnna, command, dataDirectory, freePort, launch, run, start } from '../../process/service.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { endingAfterAll } from '../at-end.ts'
import { npm, offline } from './npm.ts'

// The packages as others get them: packed, and installed in empty projects outside of this one.

const root = join(import.meta.dirname, '../../..')
const exec = promisify(execFile)
const tsc = join(root, 'node_modules/typescript/bin/tsc')
const atEnd = endingAfterAll()

/** An empty project in which the packages are installed; undefined where no registry answers. */
async function project(options: string[], ...packages: string[]): Promise<string | undefined> {
  const directory = await dataDirectory(atEnd)
  await writeFile(join(directory, 'package.json'), '{ "name": "app", "private": true, "type": "module" }')
  try {
    await npm(directory, 'install', '--prefer-offline', ...options, ...packages)
    return directory
  } catch (error) {
    if (offline.test((error as Error).message)) return undefined
    throw error
  }
}
/** TypeScript is a peer of @trpc/client; native programs of no use to code that is only compiled are optional. */
const COMPILED = ['--legacy-peer-deps', '--omit=optional']

/** The errors of `tsc --strict`, which reads the declarations of packages too (no skipLibCheck), and writes JavaScript. */
async function typeErrors(directory: string, sources: Record<string, string>, options: object) {
  const compilerOptions = { strict: true, target: 'es2023', outDir: 'out', rootDir: '.', types: [], ...options }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(sources) }))
  for (const [name, text] of Object.entries(sources)) {
    await writeFile(join(directory, name), text.includes('holds<') ? `${EQUAL}\n${text}` : text)
  }
  const { stdout, stderr } = await run([tsc, '-p', directory], {}).ended
  return stdout + stderr
}
/** For statements about types: `holds<Equal<…>>()`. */
const EQUAL = `
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T | void => {}`
const resolutions = {
  nodenext: { module: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
}
/** For code that names `process`. */
const node = { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] }

const documented = async (part: string) => {
  const text = await readFile(join(root, 'docs/first-party.md'), 'utf8')
  const code = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!).find((code) => code.includes(part))
  return code!
}

let client: string
let sdk: string
/** Undefined without a registry, of which its consumer takes tRPC's client. */
let main: string | undefined
/** As docs/commands.md says, with the native programs. */
let program: string | undefined
beforeAll(async () => {
  const packed = await dataDirectory(atEnd)
  await exec(process.execPath, [join(root, 'build.mjs'), '--if-changed', '--packages'])
  await npm(root, 'pack', '.', './clients/first-party', './clients/sdk', '--pack-destination', packed)
  const files = (await readdir(packed)).sort().map((name) => join(packed, name))
  const { devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const named = (name: string) => files.find((file) => basename(file).startsWith(`${name}-0`))!
  client = (await project(COMPILED, named('member-apps-client')))!
  sdk = (await project(COMPILED, named('member-apps-sdk')))!
  const trpc = ['@trpc/client', '@trpc/server'].map((name) => `${name}@${devDependencies[name]}`)
  main = await project(COMPILED, named('member-apps-api'), ...trpc)
  program = await project([], named('member-apps-api'))
})

/** A file with all that it loads, minified and compressed. */
async function bundledBytes(input: string) {
  const bundle = await rolldown({ input, platform: 'browser' })
  const { output } = await bundle.generate({ minify: true })
  return gzipSync(output[0].code).length
}

async function measureSize(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

describe('member-apps-client', () => {
  const packed = () => join(client, 'node_modules/member-apps-client')

  it('is one package with one program and one file of types, which import nothing', async () => {
    const { packages } = JSON.parse(await readFile(join(client, 'package-lock.json'), 'utf8'))
    expect(Object.keys(packages)).toEqual(['', 'node_modules/member-apps-client'])
    const licences = ['LICENSE-eventsource', 'LICENSE-eventsource-parser', 'LICENSE-trpc']
    expect((await readdir(join(packed(), 'dist'))).sort()).toEqual([...licences, 'client.d.ts', 'client.js'])
    for (const name of ['client.d.ts', 'client.js']) {
      const text = await readFile(join(packed(), 'dist', name), 'utf8')
      expect(text).not.toMatch(/^import |^export .* from|\bimport\(|\brequire\(|@prisma|zod/m)
    }
    expect(await measureSize(packed())).toBeLessThan(240_000)
  })

  // 5.4 kB of them for streams: tRPC's link is in the same module as its others.
  it('takes less than 14 kB, minified and compressed', async () => {
    expect(await bundledBytes(join(packed(), 'dist/client.js'))).toBeLessThan(14_000)
  })

  it.each(Object.entries(resolutions))('has types that pass tsc --strict with %s', async (_name, options) => {
    const source = `
      import type { AppRouter, Client, Json } from 'member-apps-client'
      import { createClient, TRPCClientError } from 'member-apps-client'
      const client: Client = createClient({ url: new URL('http://localhost:3001/trpc'), token: async () => 'token' })
      const at = { collection: 'c', key: 'k' }
      const entry = await client.storage.get.query(at)
      holds<Equal<typeof entry, { key: string; value: Json; updatedAt: number; etag: string }>>()
      await client.storage.put.mutate({ ...at, value: [1, null, { text: 'x' }] })
      // @ts-expect-error A value is required,
      await client.storage.put.mutate(at)
      // @ts-expect-error never undefined,
      await client.storage.put.mutate({ ...at, value: undefined })
      // @ts-expect-error and has no field that is.
      await client.storage.put.mutate({ ...at, value: { note: undefined } })
      // @ts-expect-error There is no such procedure.
      await client.storage.drop.mutate(at)
      export const readStatus = (error: unknown): number | undefined =>
        error instanceof TRPCClientError ? (error as TRPCClientError<AppRouter>).data?.httpStatus : undefined`
    expect(await typeErrors(client, { 'consumer.ts': source }, options)).toBe('')
  })
})

describe('@member-apps/sdk', () => {
  const packed = () => join(sdk, 'node_modules/@member-apps/sdk')

  it('is one package without dependencies, whose files import only one another', async () => {
    const { packages } = JSON.parse(await readFile(join(sdk, 'package-lock.json'), 'utf8'))
    expect(Object.keys(packages)).toEqual(['', 'node_modules/@member-apps/sdk'])
    const programs = ['browser.js', 'card.js', 'client.js', 'init.js', 'shared.js', 'webhooks.js']
    const types = ['browser.d.ts', 'card.d.ts', 'client.d.ts', 'webhooks.d.ts']
    const made = (await readdir(join(packed(), 'dist'))).sort()
    expect(made).toEqual(['LICENSE-oauth4webapi', 'LICENSE-uqr', ...programs, ...types].sort())
    for (const name of [...programs, ...types]) {
      const text = await readFile(join(packed(), 'dist', name), 'utf8')
      const imports = [...text.matchAll(/^(?:import|export) [^;\n]*? from ["']([^"']+)["']|\bimport\(|\brequire\(/gm)]
      const allowed = name === 'init.js' ? /^node:/ : /^\.\/shared\.js$/
      expect(imports.every(([, from]) => name.endsWith('.js') && allowed.test(from ?? ''))).toBe(true)
    }
  })

  it.each([
    ['.', 'client.js', 5_000],
    ['./browser', 'browser.js', 10_000],
    ['./webhooks', 'webhooks.js', 2_000],
    ['./card', 'card.js', 7_000],
  ])(
    'has an entry %s that takes, minified and compressed with all that it loads, no more: %s, %i bytes',
    async (_entry, file, limit) => {
      const bytes = await bundledBytes(join(packed(), 'dist', file))
      expect(bytes).toBeGreaterThan(limit / 2)
      expect(bytes).toBeLessThanOrEqual(limit)
    },
  )

  it.each(Object.entries(resolutions))(
    'has types that pass tsc --strict with %s, in a browser and on a server',
    async (_name, options) => {
      const source = `
      import type { Collection, Json } from '@member-apps/sdk'
      import { ApiError, createClient, RateLimited, ScopeMissing } from '@member-apps/sdk'
      import { browserSignIn, SignInFailed } from '@member-apps/sdk/browser'
      import { signedRequest, verifyWebhook } from '@member-apps/sdk/webhooks'
      import { CardRefused, createCard, verifyCard } from '@member-apps/sdk/card'
      interface Score { points: number }
      const svg: string = await createCard({ sync: 'https://sync', tokens: '' }).qr()
      holds<Equal<Awaited<ReturnType<typeof verifyCard>>['name'], string>>()
      const sign = { issuer: 'https://i', clientId: 'c', redirectUri: 'https://a/', scope: 's' }
      const auth = browserSignIn(sign)
      const api = createClient({ apps: new URL('https://apps'), tokens: auth.tokens })
      const scores: Collection<Score> = api.storage<Score>('scores', { scope: 'user' })
      await scores.update('alice', (was) => ({ points: (was?.points ?? 0) + 1 }))
      for await (const { key, value } of scores) holds<Equal<[typeof key, typeof value], [string, Score]>>()
      const note = await api.storage('notes').get('k')
      holds<Equal<NonNullable<typeof note>['value'], Json>>()
      // @ts-expect-error A value of another type,
      await scores.put('alice', { points: '1' })
      // @ts-expect-error or none.
      await scores.put('alice')
      // @ts-expect-error There is no such scope.
      api.storage('scores', { scope: 'club' })
      const { data } = await verifyWebhook<Score>('', new Headers(), ['secret'])
      holds<Equal<typeof data, Score>>()
      holds<Equal<Awaited<ReturnType<typeof signedRequest>>, Request>>()
      export const readWord = (error: unknown): string | number | undefined => {
        if (error instanceof ScopeMissing) return error.scope
        if (error instanceof RateLimited) return error.retryAfter
        return error instanceof ApiError || error instanceof SignInFailed ? error.code : undefined
      }`
      const store = `
      import { browserSignIn } from '@member-apps/sdk/browser'
      browserSignIn({ issuer: 'https://i', clientId: 'c', redirectUri: 'https://a/', scope: 's', store: sessionStorage })`
      const browser = { lib: ['es2023', 'dom', 'dom.iterable'] }
      const sources = { 'consumer.ts': source, 'store.ts': store }
      expect(await typeErrors(sdk, sources, { ...options, ...browser })).toBe('')
      expect(await typeErrors(sdk, { 'consumer.ts': source }, { ...options, ...node })).toBe('')
    },
  )
})

describe('member-apps-api', () => {
  it.for(Object.entries(resolutions))('has types that pass tsc --strict with %s', async ([, options], ctx) => {
    if (!main) return ctx.skip('No registry answers.')
    const source = `
      import type { Caller, Json, Principal } from 'member-apps-api'
      import { createService } from 'member-apps-api'
      const service = await createService({ databaseUrl: 'postgresql://localhost', secretsKey: 'key' })
      const anna: Principal = { member: 'anna', organisation: 'riverside', client: 'c', scopes: new Set(['s']) }
      const caller: Caller = service.callAs(anna)
      const at = { collection: 'c', key: 'k' }
      const entry = await caller.storage.get(at)
      holds<Equal<typeof entry.value, Json>>()
      // @ts-expect-error A value is required.
      await caller.storage.put(at)
      // @ts-expect-error It is never undefined.
      await caller.storage.put({ ...at, value: undefined })
      await service.close()`
    expect(await typeErrors(main, { 'consumer.ts': source }, options)).toBe('')
  })

  it.for(Object.entries(resolutions))('has a router that fits tRPC, with %s', async ([, options], ctx) => {
    if (!main) return ctx.skip('No registry answers.')
    const source = `
      import { createTRPCClient, httpBatchLink } from '@trpc/client'
      import type { inferRouterInputs } from '@trpc/server'
      import type { AppRouter, Json } from 'member-apps-api'
      const api = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: 'http://localhost:3001', maxItems: 50 })] })
      const found = await api.storage.get.query({ collection: 'c', key: 'k' })
      holds<Equal<typeof found.value, Json>>()
      holds<Equal<inferRouterInputs<AppRouter>['storage']['put']['value'], Json>>()`
    // As tRPC's own declarations name Disposable.
    const lib = ['esnext', 'dom']
    expect(await typeErrors(main, { 'consumer.ts': source }, { ...options, lib })).toBe('')
  })

  it('has what production needs, and no more', async (ctx) => {
    if (!main) return ctx.skip('No registry answers.')
    const packed = join(main, 'node_modules/member-apps-api')
    expect((await readdir(packed)).sort()).toEqual(['.env.example', 'README.md', 'dist', 'package.json', 'prisma'])
    expect((await readdir(join(packed, 'prisma'))).sort()).toEqual(['functions', 'migrations', 'upgrade'])
    const types = (await readdir(packed, { recursive: true })).filter((name) => name.endsWith('.ts'))
    expect(types).toEqual([join('dist', 'types', 'index.d.ts')])
  })
})

describe('the documented code, as printed', () => {
  let env: Record<string, string>
  beforeAll(async () => {
    const settings = { DATA_DIR: await dataDirectory(atEnd), DATABASE_URL: await emptyDatabase(atEnd), SECRETS_KEY }
    await command('seed', [], settings).ended
    // So that its subscriptions have deliveries.
    await query(settings.DATABASE_URL, `UPDATE "App" SET "webhookUrl" = 'https://192.0.2.1/' WHERE id = 'trainer-app'`)
    const port = await freePort()
    // Node asks the system for names under localhost, and not every system knows them.
    const AUTH_BASE_URL = `http://localhost:${port}/v1`
    const API = `http://127.0.0.1:${port}/v1`
    const service = await start({ ...settings, PORT: String(port), AUTH_BASE_URL, APPS_BASE_URL: API }, { atEnd })
    const claims = ['--client', 'platform', '--club', 'provider', '--scope', 'ntf.subscriptions:write ntf.events:write']
    const { stdout: token } = await command('token', claims, settings).ended
    const scope = 'ntf.subscriptions:write ntf.events:write lms.reviews:write'
    const add = ['add', '--first-party', '--id', 'billing', '--name', 'B', '--scope', scope]
    const registered = await command('client', add, settings).ended
    env = {
      ...settings,
      TRPC_URL: `http://127.0.0.1:${service.internalPort}/trpc`,
      AUTH_BASE_URL,
      API,
      TOKEN: token.trim(),
      CLIENT_SECRET: /billing:([\w-]+)'/.exec(registered.stdout)![1]!,
    }
  })

  async function printed(directory: string, code: string, more: Record<string, string> = {}) {
    for (const options of Object.values(resolutions)) {
      expect(await typeErrors(directory, { 'documented.ts': code }, { ...options, ...node })).toBe('')
    }
    const ended = await run([join(directory, 'out/documented.js')], { ...env, ...more }).ended
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    return ended.stdout
  }

  it('subscribes and publishes with the client', async () => {
    const answer = JSON.parse(await printed(client, await documented('subscriptions.create')))
    expect(answer.published).toEqual({ id: 'joined-anna', deliveries: expect.any(Number) })
    expect(answer.again).toEqual(answer.published)
  })

  it('gets tokens from the service', async () => {
    expect(await printed(client, await documented('client_credentials'))).toMatch(/^\d+\n$/)
  })

  it('publishes in process, and so does the example', async (ctx) => {
    if (!main) return ctx.skip('No registry answers.')
    expect(await printed(main, await documented('createService'))).toMatch(/^[\da-f-]{36}\n$/)
    const example = join(main, 'publish.mjs')
    await copyFile(join(root, 'examples/in-process/publish.js'), example)
    expect(await run([example, 'trainer-app', 'ben'], env).ended).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^joined-ben: \d+ subscriptions, \d+ deliveries\n$/),
    })
  })

  it('runs with the SDK as its README has it', async () => {
    const text = await readFile(join(root, 'clients/sdk/README.md'), 'utf8')
    const [code] = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, one]) => one!)
    const claims = ['--member', 'anna', '--club', 'riverside', '--client', 'trainer-app']
    const { stdout } = await command('token', claims, env).ended
    expect(await printed(sdk, code!, { TOKEN: stdout.trim() })).toBe('Hello Anna\nalice 1\n')
  })

  it('sends failed deliveries again with the example', async () => {
    await query(
      env.DATABASE_URL!,
      `UPDATE "Delivery" SET state = 'failed', "finishedAt" = now(), "nextAttemptAt" = NULL, lease = NULL, "leasedUntil" = NULL`,
    )
    const [{ count }] = await query(env.DATABASE_URL!, `SELECT count(*)::int FROM "Delivery"`)
    await copyFile(join(root, 'examples/first-party/retry.js'), join(client, 'retry.mjs'))
    const { stdout, stderr } = await run([join(client, 'retry.mjs')], { ...env, CLIENT_ID: 'billing' }).ended
    expect([stdout, stderr]).toEqual([`${count} deliveries are sent again, 0 are not.\n`, ''])
    const failed = await query(env.DATABASE_URL!, `SELECT id FROM "Delivery" WHERE state = 'failed'`)
    expect([count > 0, failed]).toEqual([true, []])
  })
})

describe('member-apps in another project', () => {
  it('is found by npx, and lists its commands', async (ctx) => {
    if (!program) return ctx.skip('No registry answers.')
    const { stdout, stderr } = await exec('npx', ['--no-install', 'member-apps', '--help'], { cwd: program })
    expect([stderr, stdout]).toEqual([
      '',
      expect.stringMatching(/^Usage: member-apps COMMAND [\s\S]*\n {2}start +runs/),
    ])
    const wrong = exec('npx', ['--no-install', 'member-apps', 'strat'], { cwd: program })
    await expect(wrong).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/Did you mean start\?/) })
  })

  it('starts the service with a database of its own, a worker, and the commands beside them', async (ctx) => {
    if (!program) return ctx.skip('No registry answers.')
    const env = { DATA_DIR: await dataDirectory() }
    const entry = join(program, 'node_modules/.bin/member-apps')
    const service = await start(env, { entry, args: ['start'], cwd: program })
    const worker = await launch(env, { entry, args: ['worker'], cwd: program })
    await expect.poll(worker.stdout).toContain('the worker delivers')
    const command = async (...args: string[]) =>
      JSON.parse((await exec(entry, [...args, '--json'], { cwd: program, env: { ...process.env, ...env } })).stdout)
    const { token } = await command('token', '--member', 'anna', '--club', 'riverside', '--client', 'trainer-app')
    expect((await asAnna(service, 'GET', '/me/profile', undefined, token)).body).toMatchObject({ id: 'anna' })
    expect(await command('team', 'list')).toContainEqual(expect.objectContaining({ id: 'builders', owners: ['anna'] }))
    expect(await worker.stop()).toMatchObject({ code: 0 })
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  })
})
