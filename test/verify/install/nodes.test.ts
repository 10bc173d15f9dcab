import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { dataDirectory } from '../../process/service.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

/** A package in a folder of its own, until the test ends: its folder, or undefined without the registry. */
async function installed(name: string, version: string): Promise<string | undefined> {
  const directory = await dataDirectory()
  const options = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', directory]
  const folder = join(directory, 'node_modules', name)
  return run('npm', ['install', ...options, `${name}@${version}`]).then(
    () => folder,
    () => undefined,
  )
}

/** The folder of a Node's program; undefined without the registry, or on a system for which it has none. */
async function nodeFromNpm(version: string): Promise<string | undefined> {
  const directory = await installed(`node-${process.platform}-${process.arch}`, version)
  return directory && join(directory, 'bin')
}

it.for(['18.20.8', '20.10.0'])(
  'a Node that is too old gets one sentence from every program: %s',
  async (version, { skip }) => {
    const node = await nodeFromNpm(version)
    if (node === undefined) skip('npm has no such Node here')
    const programs = [
      ['dist/server/main.js'],
      ['dist/server/worker.js'],
      ['dist/server/commands/main.js', 'token', '--help'],
      ['build.mjs', '--if-changed'],
    ]
    for (const program of programs) {
      const ended = await run(join(node!, 'node'), program, { cwd: root }).catch((error) => error)
      expect(ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `member-apps-api needs Node 20.19 or later, and this is Node ${version}.\n`,
      })
    }
  },
)

const programs = {
  npm10: ['npm', '10', 'bin/npm-cli.js', 'ci'],
  npm11: ['npm', '11', 'bin/npm-cli.js', 'ci'],
  newestNpm: ['npm', 'latest', 'bin/npm-cli.js', 'ci'],
  pnpm10: ['pnpm', '10', 'bin/pnpm.cjs', 'install'],
  newestPnpm: ['pnpm', 'latest', 'bin/pnpm.mjs', 'install'],
} as const

/** The files that a package manager reads of a checkout. */
async function checkout() {
  const directory = await dataDirectory()
  for (const name of ['package.json', 'package-lock.json', 'pnpm-workspace.yaml']) {
    await cp(join(root, name), join(directory, name))
  }
  return directory
}

/** What npm says of its own settings (`cli`, `Unknown user config`) is of the machine. */
const isComplaint = (line: string) =>
  /\bwarn|\berr(or)?\b|EBADENGINE|ERR_|deprecated|ignored build/i.test(line) && !/^npm warn (cli|Unknown) /.test(line)

it.for([
  ['npm10', '20.19.0'],
  ['npm11', '22.12.0'],
  ['newestNpm', '24'],
  ['newestNpm', '26'],
  ['pnpm10', '20.19.0'],
  ['newestPnpm', '20.19.0'],
  ['newestPnpm', '26'],
] as const)('%s installs on Node %s without a warning or an error', async ([by, on], { skip }) => {
  const [name, version, program, command] = programs[by]
  const [node, manager] = [await nodeFromNpm(on), await installed(name, version)]
  if (node === undefined || manager === undefined) skip('the registry does not answer')
  const env = { ...process.env, PATH: `${node}${delimiter}${process.env.PATH}`, npm_config_engine_strict: 'true' }
  const { stdout, stderr } = await run('node', [join(manager!, program), command], { cwd: await checkout(), env })
  expect(`${stdout}\n${stderr}`.split('\n').filter(isComplaint)).toEqual([])
})
