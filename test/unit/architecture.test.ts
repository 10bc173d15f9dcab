import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

/** prisma <- routers <- rest-facade <- server: each layer and those that it may import. */
const mayImport: Record<string, string[]> = {
  prisma: ['prisma'],
  routers: ['routers', 'prisma'],
  'rest-facade': ['rest-facade', 'routers'],
  server: ['server', 'rest-facade', 'routers', 'prisma'],
}

const root = join(import.meta.dirname, '../..')
const layers = Object.keys(mayImport)
const files = layers.flatMap((layer) =>
  readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' })
    .map((name) => join(layer, name))
    .filter((path) => path.endsWith('.ts') && !path.includes('generated')),
)
const sources = new Map(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]))

const importsOf = (path: string) =>
  [...sources.get(path)!.matchAll(/^(?:import|export)\s[^;]*?from\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm)].map(
    ([, from, dynamic]) => (from ?? dynamic)!,
  )
const ownImportsOf = (path: string) =>
  importsOf(path)
    .filter((from) => from.startsWith('.'))
    .map((from) => relative(root, join(root, dirname(path), from)))

describe.each(files)('%s', (path) => {
  const layer = path.split('/')[0]!
  const source = sources.get(path)!

  it('imports only what its layer may', () => {
    const outside = ownImportsOf(path).filter((from) => !mayImport[layer]!.includes(from.split('/')[0]!))
    expect(outside).toEqual([])
  })

  it('knows of HTTP, the environment and the clock only what its layer may', () => {
    const packages = importsOf(path)
    if (layer === 'prisma' || layer === 'routers') {
      expect(packages.filter((name) => /^(?:koa|@koa\/|node:https?$|jose|pino)/.test(name))).toEqual([])
    }
    if (layer === 'rest-facade')
      expect(packages.filter((name) => /^(?:koa|@koa\/|pg|@prisma\/)/.test(name))).toEqual([])
    if (layer === 'routers') expect(source).not.toMatch(/Date\.now\(|new Date\(\)/)
    if (path !== 'server/process/config.ts') expect(source).not.toMatch(/process\.env|Deno\.env/)
  })

  it('is no drawer', () => {
    expect(path).not.toMatch(/(?:^|\/)(?:utils?|lib|helpers?|services?|common|misc)(?:\/|\.ts$)/)
  })
})

describe('the files', () => {
  it('import one another without a circle', () => {
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (path: string, above: string[]) => {
      if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path].join(' -> '))
      else if (!done.has(path)) {
        for (const from of ownImportsOf(path)) if (sources.has(from)) visit(from, [...above, path])
        done.add(path)
      }
    }
    for (const path of files) visit(path, [])
    expect(circles).toEqual([])
  })
})
