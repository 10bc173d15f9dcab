import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createOnceFile } from '../../server/secrets/private-file.ts'

it('a private file is created once, and only its owner can read it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'private-file-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const contents = await Promise.all(['a', 'b', 'c'].map((text) => createOnceFile(directory, 'key', () => text)))
  expect(new Set(contents).size).toBe(1)
  expect(await readdir(directory)).toEqual(['key'])
  expect((await stat(join(directory, 'key'))).mode & 0o777).toBe(0o600)
})
