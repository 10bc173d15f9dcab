import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lexer, walkTokens } from 'marked'
import { describe, expect, it } from 'vitest'
import { errorCatalogue } from '../../routers/kernel/errors.ts'
import { markAddresses } from '../../server/docs/addresses.ts'
import { highlighted } from '../../server/docs/build/highlight.ts'
import { toSlug } from '../../server/docs/build/page-source.ts'
import { renderDocs } from '../../server/docs/build/render-docs.ts'
import { jsonHtml } from '../../server/reference/json-html.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const root = join(import.meta.dirname, '../..')

/** Renders a repository of these files. */
async function rendered(files: Record<string, string | Buffer>) {
  const directory = await temporaryDirectory()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  const { docs, faults } = renderDocs(directory)
  const page = (slug: string) => docs.pages.find((one) => one.slug === slug)!
  return { docs, faults, page }
}

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }
const listCode = (html: string) =>
  [...html.matchAll(/<pre[^>]*><code>(.*?)<\/code><\/pre>/gs)].map(([, code]) =>
    code!.replace(/<[^>]*>/g, '').replace(/&\w+;/g, (entity) => entities[entity]!),
  )

const overview = (lines: string) => `# Documentation\n\n## Boats\n\n${lines}\n`
const boats = (text: string) =>
  rendered({ 'docs/README.md': overview('- [Boats](boats.md): to row'), 'docs/boats.md': text })

describe('the pages of the documentation', () => {
  it('are the files of docs/README.md in its order, each once, without faults', () => {
    const { docs, faults } = renderDocs(root)
    expect(faults).toEqual([])
    const files = ['docs', 'docs/recipes'].flatMap((folder) => readdirSync(join(root, folder)))
    const pages = files.filter((name) => name.endsWith('.md') && name !== 'README.md')
    const slugs = docs.pages.map(({ slug }) => slug)
    expect(slugs.filter((slug) => pages.includes(`${slug}.md`))).toHaveLength(pages.length)
    expect(['', ...docs.groups.flatMap((group) => group.slugs)]).toEqual(slugs)
    expect(new Set(slugs).size).toBe(slugs.length)
  })

  it('have titles, descriptions and groups from the list', async () => {
    const { docs } = await boats('# All boats\n')
    expect(docs.groups).toEqual([{ title: 'Boats', slugs: ['boats'] }])
    expect(docs.pages.map(({ slug, title, about, heading }) => [slug, title, about, heading])).toEqual([
      ['', 'Overview', '', 'Documentation'],
      ['boats', 'Boats', 'to row', 'All boats'],
    ])
  })
})

describe('Markdown of a page', () => {
  it('has the anchors of GitHub, of which equal ones are numbered', async () => {
    const { page } = await boats('# Boats\n\n## `PUT /boats/{id}`, twice\n\n## Oars & Sails\n\n## Oars & sails\n')
    expect(page('boats').contents.map(({ id }) => id)).toEqual(['put-boatsid-twice', 'oars--sails', 'oars--sails-1'])
    expect(page('boats').html).toContain('<h2 id="oars--sails"><a href="#oars--sails">Oars &amp; Sails</a></h2>')
  })

  it('leads to pages, elsewhere, and names other files', async () => {
    const { page, faults } = await boats(
      '# Boats\n\n[boats.md](boats.md), [docs](README.md), [home](https://example.org/?a=1&b=2), [run.sh](../deploy/run.sh), [a script](../deploy/run.sh)\n',
    )
    expect(page('boats').html).toBe(
      '<p><a href="/docs/boats">Boats</a>, <a href="/docs">docs</a>, <a href="https://example.org/?a=1&amp;b=2">home</a>, <code>deploy/run.sh</code>, a script</p>\n',
    )
    expect(faults).toEqual([])
  })

  it('has its HTML escaped, without comments, and no addresses that are scripts', async () => {
    const { page, faults } = await boats(
      '# Boats\n\n<!-- made by a program -->\n\n<script>alert(1)</script>\n\nA <b>b</b> [x](javascript:alert(1)) ![y](https://example.org/y.png)\n\n```html\n<i>"&"</i>\n```\n',
    )
    const { html } = page('boats')
    expect(html).not.toMatch(/<script|<b>|<i>|javascript:|made by|<img/)
    expect(html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(html).toContain('<pre tabindex="0"><code>&lt;i&gt;"&amp;"&lt;/i&gt;</code></pre>')
    expect(faults.join('\n')).toMatch(/has HTML: <script>[\s\S]*has HTML: <b>[\s\S]*no picture https/)
  })

  it('has its code with the classes of words, and the language above it', async () => {
    const { page } = await boats('# Boats\n\n```ts title\nconst a = f<A>(1) // "1"\n```\n')
    expect(page('boats').html).toBe(
      '<div class="block"><span class="language">TypeScript</span><pre tabindex="0"><code>' +
        '<span class="keyword">const</span> a <span class="keyword">=</span> <span class="function">f</span>&lt;' +
        '<span class="type">A</span>&gt;(<span class="constant">1</span>) <span class="comment">// "1"</span></code></pre></div>\n',
    )
  })

  it('has code in no language and in an unknown one as it is', async () => {
    const { page } = await boats('# Boats\n\n```text\nconst\n```\n\n```oar\nconst\n```\n\n```\nconst\n```\n')
    const block = (label: string) => `<div class="block">${label}<pre tabindex="0"><code>const</code></pre></div>\n`
    expect(page('boats').html).toBe(block('') + block('<span class="language">oar</span>') + block(''))
  })

  it('has the text of each code as the Markdown has it', () => {
    const { docs } = renderDocs(root)
    const known = new Map(docs.pages.map(({ slug, html }) => [slug, listCode(html)]))
    const folders = ['docs', 'docs/recipes']
    const pages = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`))
    const files = ['clients/sdk/README.md', ...pages]
    for (const path of files.filter((name) => name.endsWith('.md'))) {
      const tokens = lexer(readFileSync(join(root, path), 'utf8'))
      const written: string[] = []
      walkTokens(tokens, (token) => void (token.type === 'code' && written.push(markAddresses(token.text, path))))
      expect(known.get(path === 'docs/README.md' ? '' : toSlug(path)), path).toEqual(written)
    }
    expect([...known.values()].flat().length).toBeGreaterThan(100)
  })

  it('has tables without empty header cells', async () => {
    const { page } = await boats(
      '# Boats\n\n## Kinds\n\n| Kind | |\n|---|--:|\n| eight | 8 |\n\n| | |\n|---|---|\n| a | b |\n',
    )
    const [first, second] = page('boats').html.split('<div class="scrolls"').slice(1)
    expect(first).toContain('aria-label="Table: Kinds"')
    expect(first).toContain('<thead><tr><th>Kind</th><td class="right"></td></tr></thead>')
    expect(first).toContain('<tr><td>eight</td><td class="right">8</td></tr>')
    expect(second).not.toContain('<thead>')
  })

  it('is reported for a row of a table that an empty line cuts off', async () => {
    const { faults } = await boats(
      '# Boats\n\n| Kind |\n|---|\n| eight |\n\n| four |\n\nOars:\n| spoon |\n\n```text\n| a |\n```\n\nA `|` b\n',
    )
    expect(faults).toEqual([
      'docs/boats.md has a row without its table: | four |',
      'docs/boats.md has a row without its table: | spoon |',
    ])
  })

  it('has its pictures, with their size', async () => {
    const png = Buffer.alloc(24)
    png.writeUInt32BE(800, 16)
    png.writeUInt32BE(600, 20)
    const { page, docs } = await rendered({
      'docs/README.md': overview('- [Boats](boats.md): to row'),
      'docs/boats.md': '# Boats\n\n![An eight](images/eight.png)\n![A four](images/four.svg)\n',
      'docs/images/eight.png': png,
      'docs/images/four.svg': '<svg viewBox="0 0 40 30"/>',
    })
    expect(page('boats').html).toContain('src="/docs/images/eight.png" alt="An eight" width="800" height="600"')
    expect(page('boats').html).toContain('src="/docs/images/four.svg" alt="A four" width="40" height="30"')
    expect(Object.keys(docs.pictures)).toEqual(['eight.png', 'four.svg'])
  })

  it('is reported for an anchor that its target does not have', async () => {
    const { faults } = await boats('# Boats\n\n[a](#oars) [b](README.md#nothing)\n')
    expect(faults).toEqual([
      'docs/boats.md links to #oars, and there is no such heading.',
      'docs/boats.md links to README.md#nothing, and there is no such heading.',
    ])
  })
})

it('each setting has its name as the id of its place, once', async () => {
  const { page } = await boats(
    '# Boats\n\n| Variable | Default | |\n|---|---|---|\n| `ROW_ASH`, `…_OAK` | `ROW_ASH` | In a `ROW_ASH` |\n\n| Kind | |\n|---|---|\n| `ROW_ASH` | 2 |\n',
  )
  const codes = page('boats').html.match(/<code.*?<\/code>/g)
  const plain = '<code>ROW_ASH</code>'
  expect(codes).toEqual([
    '<code id="ROW_ASH">ROW_ASH</code>',
    '<code id="ROW_OAK">…_OAK</code>',
    ...[plain, plain, plain],
  ])
  const idsByPage = renderDocs(root).docs.pages.map(({ html }) => html.match(/(?<= id=")[^"]+/g) ?? [])
  for (const ids of idsByPage) expect(ids).toEqual([...new Set(ids)])
  for (const name of ['SMTP_URL', 'MAIL_FROM', 'TOKEN_AUDIENCE_LMS', 'SYNC_BASE_URL'])
    expect(idsByPage.flat()).toContain(name)
})

it('the sections for the search are plain text, and each row of the settings', async () => {
  const { docs } = await rendered({
    'docs/README.md': overview('- [Boats](boats.md): to row\n- [Settings](settings.md): all'),
    'docs/boats.md':
      '# All boats\n\nAn **eight**.\n\n## Oars\n\nOf `ASH_WOOD`.\n\n```\ncode\n```\n\n| Kind | |\n|---|---|\n| spoon | 2 |\n\n- carbon\n',
    'docs/settings.md': '# Settings\n\n| Variable | Default | |\n|---|---|---|\n| `ROWERS` | 8 | In a boat |\n',
  })
  expect(docs.sections).toEqual([
    { slug: 'boats', id: '', heading: 'All boats', text: 'An eight. to row' },
    { slug: 'boats', id: 'oars', heading: 'Oars', text: 'Of ASH_WOOD. Kind · spoon · 2 carbon' },
    { slug: 'settings', id: '', heading: 'Settings', text: 'all' },
    { slug: 'settings', id: 'ROWERS', heading: 'ROWERS', text: '8 · In a boat' },
  ])
})

it('JSON that only the running service knows has the classes of the JSON that the build writes', () => {
  const bodies = errorCatalogue().map(({ error }) => ({ detail: error.message, reason: error.reason ?? null }))
  const odd = { 'a <b>: ü&': [1, -2.5e30, true, false, null, '', '\\', '"', 'x: "1"', '\n: 1', {}, []] }
  for (const body of [...bodies, odd, [], '', 0, null])
    expect(jsonHtml(body).text).toBe(highlighted(JSON.stringify(body), 'json').text)
})
