import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'

const run = promisify(execFile)

/** A package in a folder of its own, until the test ends: its folder, or undefined without the registry. */
export async function installed(name: string, version: string): Promise<string | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-installed-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const options = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--prefix', directory]
  const isInstalled = await run('npm', ['install', ...options, `${name}@${version}`]).then(
    () => true,
    () => false,
  )
  return isInstalled ? join(directory, 'node_modules', name) : undefined
}

/** The folder of a Node's program; undefined without the registry, or on a system for which it has none. */
export async function nodeFromNpm(version: string): Promise<string | undefined> {
  const directory = await installed(`node-${process.platform}-${process.arch}`, version)
  return directory && join(directory, 'bin')
}
