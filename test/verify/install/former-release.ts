import { execFile } from 'node:child_process'
import { access, cp, mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const cache = join(root, 'node_modules/.cache/member-apps-api/releases')
const MIGRATIONS = 'prisma/migrations'
const SQL = [MIGRATIONS, 'prisma/functions']

const git = async (...args: string[]) => (await run('git', args, { cwd: root, maxBuffer: 1e9 })).stdout.trim()

/**
 * FORMER_RELEASE, or the last commit with other migrations or functions, all of whose migrations are there unchanged or have
 * been replaced: before a release, one may still be edited. Undefined without git or its history.
 */
export async function formerCommit(): Promise<string | undefined> {
  try {
    if (process.env.FORMER_RELEASE) return await git('rev-parse', '--verify', `${process.env.FORMER_RELEASE}^{commit}`)
    if ((await git('status', '--porcelain', ...SQL)) !== '') return await git('rev-parse', 'HEAD')
    for (const changed of (await git('log', '--format=%H', '--', ...SQL)).split('\n')) {
      const before = await git('rev-parse', '--verify', '--quiet', `${changed}^`)
      const changes = await git('diff', '--name-status', '--no-renames', before, 'HEAD', '--', MIGRATIONS)
      if (!/^[^AD]/m.test(changes)) return before
    }
    return undefined
  } catch {
    return undefined
  }
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
