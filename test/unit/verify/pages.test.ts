import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const directories = ['server/browser/pages', 'server/oauth/pages/views']
const pages = directories.flatMap((directory) =>
  readdirSync(join(root, directory))
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...read(join(directory, name)).matchAll(/^export (?:const|function) (\w+Page)\b/gm)])
    .map(([, page]) => page!),
)

/** browser-pages.test.ts opens these of a service. */
const served = ['overviewPage', 'unknownAddressPage']

it.each(pages.filter((page) => !served.includes(page)))(
  '%s is among the sample pages, which axe sees in Chromium',
  (page) => {
    expect(read('test/oauth/sample-pages.ts')).toContain(` ${page}(`)
  },
)

it('axe sees all sample pages', () => {
  expect(read('test/verify/pages/pages-chromium.test.ts')).toContain('Object.keys(samplePages(language))')
})
