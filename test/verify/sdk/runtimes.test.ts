import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Plugin } from 'rolldown'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import { dataDirectory, dataDirectoryWithCluster, readToken, start } from '../../process/service.ts'
import { startedTogether } from '../at-end.ts'
import { npm } from '../install/npm.ts'
import { BUN } from '../parts.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')
const sdk = join(root, 'clients/sdk/dist')
const program = join(import.meta.dirname, 'calls.mjs')

const here = startedTogether(async (atEnd) => {
  const service = await start({ DATA_DIR: await dataDirectoryWithCluster(atEnd) }, { atEnd })
  return { service, directory: await dataDirectory(atEnd) }
})

const fetched = async (script: string, ...args: string[]) => (await run(join(root, '.ci', script), args)).stdout.trim()

/** What the program prints; its diagnostics in an error. */
async function calls(executable: string, ...args: string[]) {
  const { service } = here
  const base = (api: string) => `http://127.0.0.1:${service.port}/${api}/v1`
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TOKEN: readToken(service) }
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

it.each([
  ['node', '20.19.0'],
  ['node', '22'],
  ['node', '24'],
  ['node', '26'],
  ['deno', '2'],
  ['bun', BUN],
])('the SDK runs on %s %s', async (name, wanted) => {
  const runtimes = await readFile(join(root, '.ci/runtimes'), 'utf8')
  const [, version = wanted] = new RegExp(`^${name} (${wanted}\\..*)$`, 'm').exec(runtimes) ?? []
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
  const entry = `import { URL, URLSearchParams } from '${folder}/URL.js'
    const whole = { URL: globalThis.URL }
    // Node's own fetch: an app's is native.
    const send = globalThis.fetch
    globalThis.fetch = async (...args) => {
      const own = [globalThis.URL, globalThis.URLSearchParams]
      Object.assign(globalThis, whole)
      const answer = send(...args)
      ;[globalThis.URL, globalThis.URLSearchParams] = own
      return answer
    }
    Object.assign(globalThis, { URL, URLSearchParams, OwnURL: URL })`
  return bundled(`native-url-${version}`, entry, {
    resolveId: (id) => (/Native(Blob)?Module/.test(id) ? '\0none' : null),
    async load(id) {
      if (id === '\0none') return 'export default null'
      const source = await readFile(id, 'utf8')
      return id.startsWith(folder) ? remove(source, { all: true }).toString() : source
    },
  })
}

/** The file of a bundle of this entry. */
async function bundled(name: string, entry: string, plugin: Omit<Plugin, 'name'>, resolve: object = {}) {
  const own = {
    name: 'entry',
    resolveId: (id: string) => (id === name ? id : null),
    load: (id: string) => (id === name ? entry : null),
  }
  const build = await rolldown({
    input: name,
    platform: 'neutral',
    resolve,
    plugins: [own, { name: 'react-native', ...plugin }],
  })
  const file = join(here.directory, `${name}.mjs`)
  await build.write({ file })
  return file
}

it.each(['0.72.17', '0.88.1'])("the SDK runs with React Native's own URL of %s", async (version) => {
  expect(await calls(process.execPath, program, sdk, await nativeUrl(version))).toEqual(onPhone)
})

it('the SDK runs with react-native-url-polyfill', async () => {
  await npm(here.directory, 'install', '--legacy-peer-deps', 'react-native-url-polyfill@4.0.0')
  const modules = join(here.directory, 'node_modules')
  const entry = `import { URL, URLSearchParams } from '${modules}/react-native-url-polyfill/index.js'
    Object.assign(globalThis, { OwnURL: URL })`
  const native = `export const NativeModules = {}, Platform = { OS: 'android' }`
  const plugin = {
    resolveId: (id: string) => (id === 'react-native' ? '\0none' : null),
    load: (id: string) => (id === '\0none' ? native : null),
  }
  const file = await bundled('polyfill', entry, plugin, { mainFields: ['main'], modules: [modules] })
  expect(await calls(process.execPath, program, sdk, file)).toEqual(onPhone)
})
