import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { launch, refuses, send, until } from '../../process/service.ts'
import { migratedDatabase } from '../../support/databases.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const root = join(import.meta.dirname, '../../..')
const SOURCES = [
  'package.json',
  'tsconfig.json',
  'prisma',
  'routers',
  'rest-facade',
  'server',
  'examples',
  'clients',
  'docs',
]

it('npm run dev serves each change, and the former sources while one of them is broken', async () => {
  const { edit, dev } = await project()
  const { port, internalPort, child, stderr, stop } = dev
  const text = (path: string) =>
    send(port, 'GET', path, { headers: { host: `apps.localhost:${port}` } }).then(
      (answer) => answer.text,
      () => 'none',
    )
  const serves = (path: string, words: string) =>
    until(
      () => text(path),
      (served) => served.includes(words),
    )
  const prints = (words: string) =>
    until(
      async () => stderr(),
      (printed) => printed.includes(words),
    )
  await serves('/v1/openapi.json', '"version":"0.1.0"')

  await edit('rest-facade/openapi-documents.ts', "VERSION = '0.1.0'", "VERSION = '0.1.1'")
  await serves('/v1/openapi.json', '"version":"0.1.1"')

  await edit('rest-facade/openapi-documents.ts', "VERSION = '0.1.1'", "VERSION = '0.1.2")
  await prints('Unterminated string')
  // One write may be seen as two changes, whose second restart is not over yet.
  await serves('/v1/openapi.json', '"version":"0.1.1"')
  await edit('rest-facade/openapi-documents.ts', "VERSION = '0.1.2", 'VERSION = wrongAtTheStart()')
  await prints('wrongAtTheStart is not defined')
  await edit('rest-facade/openapi-documents.ts', 'VERSION = wrongAtTheStart()', "VERSION = '0.1.3'")
  await serves('/v1/openapi.json', '"version":"0.1.3"')

  // One build, which takes 3 s of the processor.
  await Promise.all([
    edit('server/reference/reference.css', '', '.added-while-it-runs { color: red }\n'),
    edit('docs/README.md', '# Documentation', '# Documentation that is edited'),
  ])
  await serves('/v1/docs/style.css', '.added-while-it-runs')
  await serves('/docs', '<h1>Documentation that is edited</h1>')

  expect(await stop()).toMatchObject({ code: 0 })
  expect(await Promise.all([port, internalPort].map(refuses))).toEqual([true, true])
  // Nothing of its process group is left.
  expect(() => process.kill(-child.pid!, 0)).toThrow('ESRCH')
})

/** `npm run dev` in a copy of the sources. */
async function project() {
  const directory = await temporaryDirectory()
  for (const path of SOURCES) await cp(join(root, path), join(directory, path), { recursive: true })
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  const dev = await launch(
    { DATABASE_URL: await migratedDatabase() },
    { entry: join(directory, 'server/dev.mjs'), group: true },
  )
  onTestFinished(() => {
    if (dev.child.exitCode === null) process.kill(-dev.child.pid!, 'SIGKILL')
  })
  return {
    dev,
    async edit(path: string, before: string, after: string) {
      const text = await readFile(join(directory, path), 'utf8')
      if (!text.includes(before)) throw new Error(`${path} has no ${before}`)
      await writeFile(join(directory, path), text.replace(before, after))
    },
  }
}
