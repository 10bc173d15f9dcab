import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { run } from './service.ts'

it('build.mjs builds the service at first, then only after changes, and removes the output of removed sources', async () => {
  const { expectCalls, write, remove, dist } = await project()
  await expectCalls(['--if-changed'], ['prisma', 'bundle', 'documents', 'code', 'programs', 'pack'])
  expect(await dist()).toEqual(['.inputs', 'a.js', 'b.js', 'packages', 'rest-facade'])

  await expectCalls(['--if-changed'], [])

  await remove('server/b.ts')
  await expectCalls(['--if-changed'], ['bundle', 'documents', 'code'])
  expect(await dist()).toEqual(['.inputs', 'a.js', 'packages', 'rest-facade'])

  await write('prisma/schema.prisma', 'another')
  await expectCalls(['--if-changed'], ['prisma', 'bundle', 'documents', 'code'])

  await remove('prisma/generated')
  await expectCalls(['--if-changed'], ['prisma'])

  await write('clients/sdk/client.ts', 'changed')
  await expectCalls(['--if-changed'], ['programs', 'pack'])

  await expectCalls([], ['prisma', 'bundle', 'documents', 'code', 'programs', 'pack'])

  await remove('clients')
  await expectCalls(['--if-changed'], [])
})

it('build.mjs --packages builds the types of the API too, when something in them has changed, and packs them', async () => {
  const { expectCalls, write, remove, dist, files, typed } = await project()
  await expectCalls(
    ['--if-changed', '--packages'],
    ['prisma', 'bundle', 'documents', 'code', 'programs', 'pack', 'types', 'pack'],
  )
  expect(await dist()).toContain('types')
  await expectCalls(['--if-changed', '--packages'], [])
  await expectCalls(['--if-changed'], [])
  expect(await typed()).toBe('true')

  await write('clients/sdk/client.ts', 'changed')
  await expectCalls(['--if-changed', '--packages'], ['programs', 'pack', 'types', 'pack'])
  for (const folder of ['sdk', 'first-party']) {
    await remove(`clients/${folder}/dist`)
    await expectCalls(
      ['--if-changed', '--packages'],
      folder === 'sdk' ? ['programs', 'pack'] : ['programs', 'pack', 'types', 'pack'],
    )
  }
  expect(await typed()).toBe('true')

  await write('server/a.ts', 'changed')
  await expectCalls(['--if-changed', '--packages'], ['bundle', 'documents', 'code', 'pack', 'types', 'pack'])
  expect(await files()).not.toContainEqual(expect.stringMatching(/^\.dist/))
})

it('build.mjs packs no types of a former API', async () => {
  const { build, calls, expectCalls, write, typed } = await project()
  await build('--packages')
  expect(await typed()).toBe('true')
  await calls()
  await write('routers/r.ts', 'changed')
  await expectCalls(['--if-changed'], ['bundle', 'documents', 'code', 'pack'])
  expect(await typed()).toBe('false')
})

it('build.mjs prints the error of a source that cannot be bundled and keeps the former build', async () => {
  const { build, calls, expectCalls, write, files, dist } = await project()
  await build()
  await write('server/a.ts', 'error')
  expect(await build('--if-changed')).toEqual([1, 'a.ts is wrong\n'])
  expect(await dist()).toEqual(['.inputs', 'a.js', 'b.js', 'packages', 'rest-facade'])
  expect(await files()).not.toContainEqual(expect.stringMatching(/^\.dist/))
  await calls()
  await write('server/a.ts', 'again')
  await expectCalls(['--if-changed'], ['bundle', 'documents', 'code'])
})

it('build.mjs --if-changed does nothing without the tools or the sources', async () => {
  const { build, calls, remove, write } = await project()
  await build()
  await calls()
  await remove('node_modules')
  await write('server/a.ts', 'changed')
  expect(await build('--if-changed')).toEqual([0, ''])
  expect(await build()).toEqual([1, 'The service cannot be built here: run `npm ci` first.\n'])
  for (const path of ['server', 'prisma', 'prisma.config.ts']) await remove(path)
  expect(await build('--if-changed')).toEqual([0, ''])
  await remove('dist')
  expect(await build('--if-changed')).toEqual([1, 'The service cannot be built here: run `npm ci` first.\n'])
})

/** A project of two sources whose tools note that they were called; the bundler copies the sources. */
async function project() {
  const configs = ['tsconfig.json', 'tsconfig.types.json']
  const root = await temporaryDirectory()
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  await copyFile(join(import.meta.dirname, '../../build.mjs'), join(root, 'build.mjs'))
  for (const path of ['package-lock.json', 'prisma.config.ts', ...configs]) await write(path, '{}')
  for (const path of ['prisma/schema.prisma', 'routers/r.ts', 'rest-facade/f.ts', 'examples/e.js'])
    await write(path, '')
  await write('server/a.ts', '')
  await write('server/b.ts', '')
  await write(
    'node_modules/prisma/build/index.js',
    `const fs = require('node:fs')
     fs.appendFileSync('calls', 'prisma ')
     fs.mkdirSync('prisma/generated', { recursive: true })
     console.log('generated')`,
  )
  await write('node_modules/rolldown/package.json', '{}')
  await write(
    'server/bundle.mjs',
    `import fs from 'node:fs'
     import { join } from 'node:path'
     const server = import.meta.dirname
     export function bundle(out) {
       fs.mkdirSync(join(out, 'rest-facade'), { recursive: true })
       for (const name of fs.readdirSync(server)) if (name.endsWith('.ts')) fs.copyFileSync(join(server, name), join(out, name.replace('.ts', '.js')))
       if (fs.readFileSync(join(server, 'a.ts'), 'utf8') === 'error') throw new Error('a.ts is wrong\\n')
       fs.writeFileSync(join(out, 'rest-facade/write-documents.js'), "require('node:fs').appendFileSync('calls', 'documents ')")
       fs.appendFileSync(join(server, '../calls'), 'bundle ')
     }
     export const writeReferenceCode = () => fs.appendFileSync(join(server, '../calls'), 'code ')`,
  )
  await write(
    'clients/build-types.mjs',
    `import fs from 'node:fs'
     fs.mkdirSync('dist/types', { recursive: true })
     fs.writeFileSync('clients/first-party/dist/client.d.ts', '')
     fs.appendFileSync('calls', 'types ')`,
  )
  await write('clients/sdk/client.ts', '')
  await write(
    'clients/build-programs.mjs',
    `import fs from 'node:fs'
     for (const folder of ['sdk', 'first-party']) {
       fs.mkdirSync('clients/' + folder + '/dist', { recursive: true })
       fs.writeFileSync('clients/' + folder + '/dist/client.js', '')
     }
     fs.appendFileSync('calls', 'programs ')`,
  )
  await write('clients/first-party/client.ts', '')
  await write(
    'clients/pack.mjs',
    `import fs from 'node:fs'
     fs.mkdirSync('clients/dist', { recursive: true })
     fs.writeFileSync('clients/dist/typed', String(fs.existsSync('clients/first-party/dist/client.d.ts')))
     fs.appendFileSync('calls', 'pack ')`,
  )
  const build = async (...args: string[]) => {
    const { code, stdout, stderr } = await run([join(root, 'build.mjs'), ...args], {}).ended
    return [code, stdout + stderr]
  }
  /** The tools called since the last look. */
  const calls = async () => {
    const text = await readFile(join(root, 'calls'), 'utf8').catch(() => '')
    await rm(join(root, 'calls'), { force: true })
    return text.split(' ').filter(Boolean)
  }
  return {
    write,
    calls,
    remove: (path: string) => rm(join(root, path), { recursive: true }),
    dist: async () => (await readdir(join(root, 'dist'))).sort(),
    files: () => readdir(root),
    /** Whether the packages that the service would serve have the types of the API. */
    typed: () => readFile(join(root, 'dist/packages/typed'), 'utf8'),
    build,
    /** Expects that a build is silent, and calls these tools; some of them run at once. */
    async expectCalls(args: string[], expected: readonly string[]) {
      expect(await build(...args)).toEqual([0, ''])
      expect((await calls()).sort()).toEqual([...expected].sort())
    },
  }
}
