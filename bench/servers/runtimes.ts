import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** An executable, and what it needs before a program and its arguments; `preload` is a module that it runs first. */
export interface Runtime {
  name: string
  file: string
  flags: (preload: string) => string[]
}

const onNode = (version: string, file: string): Runtime => ({
  name: `Node ${version}`,
  file,
  flags: (preload) => ['--import', preload],
})

export const OWN = onNode(process.versions.node, process.execPath)

/** This process's own, and those of .ci/runtimes, which are fetched. */
export function allRuntimes(): Runtime[] {
  const directory = new URL('../../.ci/', import.meta.url)
  const lines = readFileSync(new URL('runtimes', directory), 'utf8').trim().split('\n')
  const fetched = lines.map((line): Runtime => {
    const [name, version] = line.split(' ') as [string, string]
    const args = [name, version]
    const file = execFileSync(fileURLToPath(new URL('executable', directory)), args, { encoding: 'utf8' }).trim()
    if (name === 'node') return onNode(version, file)
    return { name: `Deno ${version}`, file, flags: (preload) => ['run', '-A', '--preload', preload] }
  })
  return [OWN, ...fetched]
}
