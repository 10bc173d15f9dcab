import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { installed, nodeFromNpm } from './node-from-npm.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

const programs = {
  npm10: ['npm', '10', 'bin/npm-cli.js', 'ci'],
  npm11: ['npm', '11', 'bin/npm-cli.js', 'ci'],
  newestNpm: ['npm', 'latest', 'bin/npm-cli.js', 'ci'],
  pnpm10: ['pnpm', '10', 'bin/pnpm.cjs', 'install'],
  newestPnpm: ['pnpm', 'latest', 'bin/pnpm.mjs', 'install'],
} as const

/** The files that a package manager reads of a checkout. */
async function checkout() {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-checkout-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
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
] as const)(
  '%s installs on Node %s without a warning or an error',
  { timeout: 300_000 },
  async ([by, on], { skip }) => {
    const [name, version, program, command] = programs[by]
    const [node, manager] = [await nodeFromNpm(on), await installed(name, version)]
    if (node === undefined || manager === undefined) skip('the registry does not answer')
    const env = { ...process.env, PATH: `${node}${delimiter}${process.env.PATH}`, npm_config_engine_strict: 'true' }
    const { stdout, stderr } = await run('node', [join(manager!, program), command], { cwd: await checkout(), env })
    expect(`${stdout}\n${stderr}`.split('\n').filter(isComplaint)).toEqual([])
  },
)
