import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { dataDirectoryWithCluster, start, tokenOf } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { started } from '../../support/started.ts'
import { npm } from '../install/npm.ts'
import { BUN } from '../parts.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const sdk = join(root, 'clients/sdk/dist')
const program = join(import.meta.dirname, 'calls.mjs')

const here = started(
  async () => {
    const ends: (() => unknown)[] = []
    const atEnd: AtEnd = (end) => void ends.unshift(end)
    const directory = await mkdtemp(join(tmpdir(), 'member-apps-sdk-'))
    atEnd(() => rm(directory, { recursive: true, force: true }))
    const service = await start({ DATA_DIR: await dataDirectoryWithCluster(atEnd) }, { atEnd })
    return { service, directory, ends }
  },
  async ({ ends }) => {
    for (const end of ends) await end()
  },
)

const fetched = async (script: string, ...args: string[]) => (await run(join(root, '.ci', script), args)).stdout.trim()

/** What the program prints; its diagnostics in an error. */
async function calls(executable: string, ...args: string[]) {
  const { service } = here
  const base = (api: string) => `http://127.0.0.1:${service.port}/${api}/v1`
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TOKEN: tokenOf(service) }
  const child = spawn(executable, args, { env: { ...env, APPS: base('apps'), SYNC: base('sync') } })
  const texts = ['', '']
  child.stdout.on('data', (chunk) => (texts[0] += chunk))
  child.stderr.on('data', (chunk) => (texts[1] += chunk))
  await new Promise((resolve) => child.on('close', resolve))
  if (!texts[0]) throw new Error(texts[1])
  return JSON.parse(texts[0])
}

const whole = {
  profile: 'Anna',
  events: [],
  refused: true,
  updated: 2,
  batch: 1,
  same: true,
  live: ['current', ['b', 'k']],
  deleted: [true, false],
  b: 'ä',
  webhook: 'ä',
}

/** Webhooks come to servers. */
const { webhook: _, ...onPhone } = whole

const versions = async () => {
  const text = await readFile(join(root, '.ci/runtimes'), 'utf8')
  return Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => [line.replace(/\..*/, ''), line.split(' ')[1]!]),
  )
}

it.each([
  ['node', '20.19.0'],
  ['node', '22'],
  ['node', '24'],
  ['node', '26'],
  ['deno', '2'],
  ['bun', BUN],
])('the SDK runs on %s %s', async (name, wanted) => {
  const version = (await versions())[`${name} ${wanted}`] ?? wanted
  const executable = await fetched('executable', name, version)
  const args = name === 'deno' ? ['run', '-A'] : []
  expect(await calls(executable, ...args, program, sdk)).toEqual(whole)
})

/** React Native's own URL, without its types, in place of the platform's; `OwnURL` is what an app has for its addresses. */
async function nativeUrl(version: string) {
  const tools = await fetched('fetch', 'flow-remove-types', '2.336.0')
  const { default: remove } = await import(join(tools, 'flow-remove-types/index.js'))
  // Without the packages that it needs: 4 MB of some 300.
  const unpacked = join(here.directory, version)
  await mkdir(unpacked)
  const packed = await npm(unpacked, 'pack', `react-native@${version}`)
  await run('tar', ['xzf', packed.trim(), 'package/Libraries/Blob'], { cwd: unpacked })
  const folder = join(unpacked, 'package/Libraries/Blob')
  const build = await rolldown({
    input: 'native-url',
    platform: 'neutral',
    plugins: [
      {
        name: 'react-native',
        resolveId: (id) => (id === 'native-url' ? id : /Native(Blob)?Module/.test(id) ? '\0none' : null),
        async load(id) {
          if (id === '\0none') return 'export default null'
          if (id === 'native-url') {
            return `import { URL, URLSearchParams } from '${folder}/URL.js'
              const whole = { URL: globalThis.URL }
              // Of Node's own fetch: an app's is native.
              const send = globalThis.fetch
              globalThis.fetch = async (...args) => {
                const own = [globalThis.URL, globalThis.URLSearchParams]
                Object.assign(globalThis, whole)
                const answer = send(...args)
                ;[globalThis.URL, globalThis.URLSearchParams] = own
                return answer
              }
              Object.assign(globalThis, { URL, URLSearchParams, OwnURL: URL })`
          }
          const source = await readFile(id, 'utf8')
          if (!id.startsWith(folder)) return source
          return remove(source, { all: true }).toString()
        },
      },
    ],
  })
  const file = join(here.directory, `native-url-${version}.mjs`)
  await build.write({ file })
  return file
}

it.each(['0.72.17', '0.88.1'])("the SDK runs with React Native's own URL of %s", async (version) => {
  expect(await calls(process.execPath, program, sdk, await nativeUrl(version))).toEqual(onPhone)
})

it('the SDK runs with react-native-url-polyfill', async () => {
  const install = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', 'react-native-url-polyfill@4.0.0']
  await npm(here.directory, ...install)
  const modules = join(here.directory, 'node_modules')
  const build = await rolldown({
    input: 'polyfill',
    platform: 'neutral',
    resolve: { mainFields: ['main'], modules: [modules] },
    plugins: [
      {
        name: 'react-native',
        resolveId: (id) => (id === 'polyfill' ? id : id === 'react-native' ? '\0none' : null),
        load: (id) =>
          id === '\0none'
            ? `export const NativeModules = {}, Platform = { OS: 'android' }`
            : id === 'polyfill'
              ? `import { URL, URLSearchParams } from '${modules}/react-native-url-polyfill/index.js'
                 Object.assign(globalThis, { OwnURL: URL })`
              : null,
      },
    ],
  })
  const file = join(here.directory, 'polyfill.mjs')
  await build.write({ file })
  expect(await calls(process.execPath, program, sdk, file)).toEqual(onPhone)
})
