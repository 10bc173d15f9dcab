import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { memberScopesAt, sectionNames } from '../../../routers/kernel/scopes.ts'
import { dataDirectory, dataDirectoryWithCluster, send, start } from '../../process/service.ts'
import { startedTogether } from '../at-end.ts'
import { demoToken } from '../demo.ts'
import { npm } from '../install/npm.ts'

// Generators as npm has them, with their defaults, on the Node that they need.

const root = join(import.meta.dirname, '../../..')
const NODE = '24.21.0'
const PACKAGES = [
  '@hey-api/openapi-ts@0.99.0',
  'orval@8.38.0',
  'axios@1.20.0',
  'openapi-zod-client@1.18.3',
  '@zodios/core@10.9.6',
  'zod@3.25.76',
  'swagger-typescript-api@13.13.0',
  'openapi-typescript@7.13.0',
  'openapi-to-postmanv2@6.3.3',
  'newman@6.2.2',
  'typescript@5.9.3',
]
const exec = promisify(execFile)

const here = startedTogether(async (atEnd) => {
  const directory = await dataDirectory(atEnd)
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  await npm(directory, 'install', ...PACKAGES)
  const { stdout: node } = await exec(join(root, '.ci/executable'), ['node', NODE])
  const env = {
    ...process.env,
    PATH: `${dirname(node.trim())}:${join(directory, 'node_modules/.bin')}:${process.env.PATH}`,
  }
  const DATA_DIR = await dataDirectoryWithCluster(atEnd)
  const { port } = await start({ DATA_DIR }, { atEnd })
  const token = await demoToken(DATA_DIR, { client: 'trainer-app', scope: memberScopesAt('developer').join(' ') })
  for (const section of sectionNames) {
    const { text } = await send(port, 'GET', `/${section}/v1/openapi.json`, {
      headers: { host: `localhost:${port}` },
    })
    await writeFile(join(directory, `${section}.json`), text)
  }
  const run = (program: string, ...args: string[]) =>
    exec(program, args, { cwd: directory, env: { ...env, TOKEN: token } })
  return { directory, run, port, base: `http://localhost:${port}/apps/v1`, token }
})

const compilerOptions = {
  strict: true,
  noEmit: true,
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  skipLibCheck: true,
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
}

interface Generator {
  name: string
  /** Writes the client of a document. */
  generate: (section: string) => string[]
  /** The file with the types of a document's client, relative to the directory. */
  typesFile: (section: string) => string
  /** Reads the profile, writes an entry and reads it, and an unknown one, as `profile`, `entry` and `unknown`. */
  calls: string
}

const generators: Generator[] = [
  {
    name: 'hey-api',
    generate: (section) => ['openapi-ts', '-i', `${section}.json`, '-o', `hey-api/${section}`],
    typesFile: (section) => `hey-api/${section}/types.gen.ts`,
    calls: `import { client } from './hey-api/apps/client.gen'
import type { Profile, StorageEntry } from './hey-api/apps/types.gen'
import { meProfile, storageGet, storagePut } from './hey-api/apps/sdk.gen'
client.setConfig({ auth: () => process.env.TOKEN! })
const at = (key: string) => ({ path: { collection: 'notes', key } })
const profile: Profile | undefined = (await meProfile()).data
await storagePut({ ...at('k'), body: { value: { n: 1 } } })
const entry: StorageEntry | undefined = (await storageGet(at('k'))).data
const unknown = (await storageGet(at('none'))).error`,
  },
  {
    name: 'orval',
    generate: (section) => ['orval', '--input', `./${section}.json`, '--output', `./orval/${section}.ts`],
    typesFile: (section) => `orval/${section}.ts`,
    calls: `import type { Profile, StorageEntry } from './orval/apps'
import { meProfile, storageGet, storagePut } from './orval/apps'
const options = { baseURL: process.env.BASE!, headers: { authorization: \`Bearer \${process.env.TOKEN}\` } }
const profile: Profile = (await meProfile(options)).data
await storagePut('notes', 'k', { value: { n: 1 } }, undefined, options)
const entry: StorageEntry = (await storageGet('notes', 'k', undefined, options)).data
const unknown = await storageGet('notes', 'none', undefined, options).catch((error) => error.response.data)`,
  },
  {
    name: 'openapi-zod-client',
    generate: (section) => [
      'openapi-zod-client',
      `${section}.json`,
      '-o',
      `zod-${section}.ts`,
      '--export-schemas',
      '--with-alias',
    ],
    typesFile: (section) => `zod-${section}.ts`,
    calls: `import { createApiClient } from './zod-apps'
const api = createApiClient(process.env.BASE!, { axiosConfig: { headers: { authorization: \`Bearer \${process.env.TOKEN}\` } } })
const at = (key: string) => ({ params: { collection: 'notes', key } })
const profile = await api.meProfile()
await api.storagePut({ value: { n: 1 } }, at('k'))
const entry = await api.storageGet(at('k'))
const unknown = await api.storageGet(at('none')).catch((error) => error.response.data)`,
  },
  {
    name: 'swagger-typescript-api',
    generate: (section) => [
      'swagger-typescript-api',
      'generate',
      '-p',
      `${section}.json`,
      '-o',
      'swagger',
      '-n',
      `${section}.ts`,
    ],
    typesFile: (section) => `swagger/${section}.ts`,
    calls: `import type { Profile, StorageEntry } from './swagger/apps'
import { Api } from './swagger/apps'
const api = new Api({ baseApiParams: { headers: { authorization: \`Bearer \${process.env.TOKEN}\` } } })
const profile: Profile = (await api.me.meProfile()).data
await api.storage.storagePut('notes', 'k', { value: { n: 1 } })
const entry: StorageEntry = (await api.storage.storageGet('notes', 'k')).data
const unknown = await api.storage.storageGet('notes', 'none').catch((response) => response.error)`,
  },
]

it.each(generators)('$name makes clients that compile, name the models, and call the service', async (generator) => {
  const { directory, run, base } = here
  for (const section of sectionNames) {
    const [program, ...args] = generator.generate(section)
    await run(program!, ...args)
    const { components } = JSON.parse(await readFile(join(directory, `${section}.json`), 'utf8'))
    const types = await readFile(join(directory, generator.typesFile(section)), 'utf8')
    const names = Object.keys(components.schemas)
    expect(names.filter((name) => !new RegExp(`(?:interface|type|const) ${name}\\b`).test(types))).toEqual([])
  }
  const file = `${generator.name}-calls.mts`
  const text = generator.calls.replaceAll('process.env.BASE!', JSON.stringify(base))
  await writeFile(
    join(directory, file),
    `${text}\nconsole.log(JSON.stringify({ profile, entry, unknown }))\nexport {}\n`,
  )
  await writeFile(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: [file, ...sectionNames.map(generator.typesFile)] }),
  )
  await run('tsc', '-p', '.').catch(({ stdout }) => expect(stdout).toBe(''))
  const { stdout } = await run('node', '--import', join(root, 'node_modules/tsx/dist/loader.mjs'), file)
  expect(JSON.parse(stdout)).toEqual({
    profile: expect.objectContaining({ id: 'anna' }),
    entry: { key: 'k', value: { n: 1 }, updatedAt: expect.any(Number) },
    unknown: { detail: 'This key does not exist.' },
  })
})

it('Postman makes a collection whose requests succeed with a token, but for the entry that one of them removes', async () => {
  const { directory, run, port, token } = here
  const headers = { host: 'apps.localhost', authorization: `Bearer ${token}` }
  const stored = await send(port, 'PUT', '/v1/storage/scores/alice', { headers, body: { value: 1 } })
  expect(stored.status).toBe(200)
  // As troubleshooting says: else it sends the word "string" as a precondition.
  const options = 'parametersResolution=Example,enableOptionalParameters=false'
  await run('openapi2postmanv2', '-s', 'apps.json', '-o', 'collection.json', '-O', options)
  const report = ['--reporters', 'json', '--reporter-json-export', 'report.json']
  await run('newman', 'run', 'collection.json', '--env-var', `bearerToken=${token}`, ...report)
  const { executions } = JSON.parse(await readFile(join(directory, 'report.json'), 'utf8')).run
  const answers: [string, number][] = executions.map(
    ({ item, response }: { item: { name: string }; response: { code: number } }) => [item.name, response.code],
  )
  expect(answers).toHaveLength(11)
  expect(answers.filter(([, code]) => code !== 200)).toEqual([['Removes an entry', 204]])
})
