import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { asAnna, dataDirectory, dataDirectoryWithCluster, start } from '../service.ts'

it('a copy of the data directory of a stopped service has its data, beside the first one', async () => {
  const DATA_DIR = await dataDirectoryWithCluster()
  const first = await start({ DATA_DIR })
  expect((await asAnna(first, 'PUT', '/storage/notes/entry', { value: { a: 1e2 } })).status).toBe(200)
  const before = await asAnna(first, 'GET', '/storage/notes/entry')
  expect(await first.stop()).toMatchObject({ code: 0 })

  const copy = await dataDirectory()
  await promisify(execFile)('cp', ['-a', `${DATA_DIR}/.`, copy])
  const again = await start({ DATA_DIR })
  const other = await start({ DATA_DIR: copy })
  expect((await asAnna(again, 'DELETE', '/storage/notes/entry')).status).toBe(204)
  const after = await asAnna(other, 'GET', '/storage/notes/entry')
  expect([after.status, after.text, after.headers.etag]).toEqual([200, before.text, before.headers.etag])
  expect(await Promise.all([again.stop(), other.stop()])).toMatchObject([{ code: 0 }, { code: 0 }])
})
