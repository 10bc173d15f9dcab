import { execFile } from 'node:child_process'
import { access, cp, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const cache = join(root, 'node_modules/.cache/member-apps-api/releases')
/** Its nodes run beside those of 0.1.0 while these replace them (docs/upgrades.md). Each release names the one before it here. */
const FORMER = '6ea6af0f'

const git = async (...args: string[]) => (await run('git', args, { cwd: root, maxBuffer: 1e9 })).stdout.trim()

/** FORMER_RELEASE, or the former release; undefined without git or its history. */
export async function formerCommit(): Promise<string | undefined> {
  const commit = process.env.FORMER_RELEASE || FORMER
  return git('rev-parse', '--verify', `${commit}^{commit}`).catch(() => undefined)
}

/** The directory of that commit, compiled with our packages: made once, in 15 s of CPU. */
export async function buildRelease(commit: string): Promise<string> {
  const made = join(cache, commit)
  const isMade = await access(made).then(
    () => true,
    () => false,
  )
  if (isMade) return made
  // Not there: the compiler takes nothing below node_modules for a source.
  const draft = await mkdtemp(join(tmpdir(), 'member-apps-release-'))
  const copy = `${made}.${process.pid}`
  try {
    await run('git', ['archive', '--output', join(draft, 'release.tar'), commit], { cwd: root })
    await run('tar', ['-xf', 'release.tar'], { cwd: draft })
    await symlink(join(root, 'node_modules'), join(draft, 'node_modules'))
    await run(process.execPath, ['build.mjs', '--if-changed'], { cwd: draft, maxBuffer: 1e8 })
    await cp(draft, copy, { recursive: true })
    await rename(copy, made)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return made
}
