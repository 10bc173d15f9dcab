import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AtEnd } from './databases.ts'

/** A directory for one test, by default one that PostgreSQL's user may enter also when the tests are run by root. */
export async function temporaryDirectory(mode = 0o755, atEnd: AtEnd = onTestFinished): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-test-'))
  await chmod(directory, mode)
  atEnd(() => rm(directory, { recursive: true, force: true }))
  return directory
}
