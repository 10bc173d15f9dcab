import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { asAnna, command, dataDirectory, dataDirectoryWithCluster, start } from '../service.ts'

it('a service is restored in another data directory from a backup of its running embedded database', async () => {
  const DATA_DIR = await dataDirectoryWithCluster()
  const service = await start({ DATA_DIR })
  const put = await asAnna(service, 'PUT', '/storage/notes/entry', { value: { a: 1e2 } })
  expect(put.status).toBe(200)
  const file = join(DATA_DIR, 'backup')
  const taken = await command('backup', [file], { DATA_DIR }).ended
  expect(taken).toMatchObject({ code: 0, stderr: '' })
  const key = join(DATA_DIR, 'secrets-key')
  expect(taken.stdout).toContain(`keep it elsewhere: ${key}\n`)
  const before = await asAnna(service, 'GET', '/storage/notes/entry')

  const used = await command('restore', [file, '--nothing-to-repeat', '--yes'], { DATA_DIR }).ended
  expect(used).toMatchObject({ code: 1, stderr: expect.stringContaining('uses the database: stop it first') })
  expect(await service.stop()).toMatchObject({ code: 0 })

  const elsewhere = await dataDirectory()
  const keyless = await command('restore', [file, '--nothing-to-repeat'], { DATA_DIR: elsewhere }).ended
  expect(keyless).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('SECRETS_KEY is missing') })
  await copyFile(key, join(elsewhere, 'secrets-key'))
  const restored = await command('restore', [file, '--nothing-to-repeat'], { DATA_DIR: elsewhere }).ended
  expect(restored).toMatchObject({ code: 0, stderr: '' })

  const other = await start({ DATA_DIR: elsewhere })
  const after = await asAnna(other, 'GET', '/storage/notes/entry')
  expect([after.status, after.text, after.headers.etag]).toEqual([200, before.text, before.headers.etag])
  expect(await other.stop()).toMatchObject({ code: 0 })
})
