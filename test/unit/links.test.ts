import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Token, Tokens } from 'marked'
import { walkTokens } from 'marked'
import { describe, expect, it } from 'vitest'
import type { SourceFile } from '../../server/docs/build/source-file.ts'
import { parsed } from '../../server/docs/build/source-file.ts'

const root = join(import.meta.dirname, '../..')
const pagesIn = (directory: string) =>
  readdirSync(join(root, directory))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${directory}/${name}`)
const paths = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'clients/sdk/README.md',
  'prisma/README.md',
  'test/verify/README.md',
  ...pagesIn('docs'),
  ...pagesIn('docs/records'),
]

const files = new Map<string, SourceFile>()
const fileAt = (path: string) => {
  const file = files.get(path) ?? parsed(path, readFileSync(join(root, path), 'utf8'))
  files.set(path, file)
  return file
}

const isLink = (token: Token): token is Tokens.Link | Tokens.Image => token.type === 'link' || token.type === 'image'

/** The link's addresses in a file, without those elsewhere. */
function linksIn({ tokens }: SourceFile): string[] {
  const found: string[] = []
  walkTokens([...tokens], (token) => {
    if (isLink(token) && !/^https?:/.test(token.href)) found.push(token.href)
  })
  return found
}

function isThere(from: string, href: string): boolean {
  const [path, anchor] = href.split('#')
  const target = path === '' ? from : posix.join(posix.dirname(from), path!)
  if (target.startsWith('..') || !existsSync(join(root, target))) return false
  return anchor === undefined || [...fileAt(target).headings.values()].some(({ id }) => id === anchor)
}

describe('the links of', () => {
  it.each(paths)('%s lead to files and headings that there are', (path) => {
    const links = linksIn(fileAt(path))
    expect(links.filter((href) => !isThere(path, href))).toEqual([])
  })

  it('all files are found, and a wrong one is noticed', () => {
    expect(paths.flatMap((path) => linksIn(fileAt(path))).length).toBeGreaterThan(200)
    expect(isThere('docs/apps.md', 'first-app.md#1-start-the-service')).toBe(true)
    for (const wrong of ['nowhere.md', '#nowhere', 'first-app.md#10-nowhere', '../../elsewhere'])
      expect(isThere('docs/apps.md', wrong)).toBe(false)
  })
})
