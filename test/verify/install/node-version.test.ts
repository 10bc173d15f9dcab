import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

/** A Node from npm; undefined without the registry, or on a system for which it has none. */
async function install(version: string): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-node-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const name = `node-${process.platform}-${process.arch}`
  const options = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', directory]
  const isInstalled = await run('npm', ['install', ...options, `${name}@${version}`]).then(
    () => true,
    () => false,
  )
  return isInstalled ? join(directory, 'node_modules', name, 'bin', 'node') : undefined
}

describe('a Node that is too old', { timeout: 180_000 }, () => {
  it.for(['18.20.8', '20.10.0'])('gets one sentence from every program: %s', async (version, { skip }) => {
    const node = await install(version)
    if (node === undefined) skip('npm has no such Node here')
    const programs = [
      ['dist/server/main.js'],
      ['dist/server/worker.js'],
      ['dist/server/commands/main.js', 'token', '--help'],
      ['build.mjs', '--if-changed'],
    ]
    for (const program of programs) {
      const ended = await run(node!, program, { cwd: root }).catch((error) => error)
      expect(ended).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `member-apps-api needs Node 20.19 or later, and this is Node ${version}.\n`,
      })
    }
  })
})
