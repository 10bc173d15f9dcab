import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { nodeFromNpm } from './node-from-npm.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

describe('a Node that is too old', { timeout: 180_000 }, () => {
  it.for(['18.20.8', '20.10.0'])('gets one sentence from every program: %s', async (version, { skip }) => {
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
  })
})
