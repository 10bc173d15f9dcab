import { describe, expect, it } from 'vitest'
import type { Ways } from '../../server/docs/page.ts'
import { docsPage } from '../../server/docs/page.ts'
import { authWorld } from '../oauth/auth-world.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { renderedDocs } from '../support/rendered-docs.ts'
import { send } from '../support/request.ts'
import { useWorld } from '../support/started.ts'

const trial = authWorld({ localUrls: localUrlsAt('http://localhost:4100') })
const external = useWorld()

const docs = renderedDocs.read()
const slugs = docs.pages.map(({ slug }) => slug)
const get = async (port: number, host: string, path: string) =>
  (await send(port, 'GET', path, { headers: { host } })).text
/** As its reader sees it. */
const toText = (page: string) =>
  page
    .replace(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
const read = async (port: number, host: string, slug: string) => toText(await get(port, host, `/docs/${slug}`))

/** Addresses of the Markdown and marks of the build; the rest of `apps.localhost` and its like has no port. */
const documented = /:\/\/\w+\.localhost:\d+|localhost:3000|:3000\b|\w+\.example\.org\/v1|[\ue000-\uf8ff]/g
/** The page sets up another service, at names and ports that its reader replaces. */
const kept: Record<string, RegExp> = { production: /^:3000$|\.example\.org\/v1$/ }
const left = (slug: string, text: string) =>
  [...text.matchAll(documented)].map(([found]) => found).filter((found) => !kept[slug]?.test(found))

describe('the documentation names the addresses of the service that serves it,', () => {
  it.each(slugs.filter((slug) => slug !== ''))('no documented ones: %s', async (slug) => {
    for (const host of ['apps.test', 'localhost:4100'])
      expect([host, left(slug, await read(trial.world.publicPort, host, slug))]).toEqual([host, []])
  })

  it('those of the host at which it is read', async () => {
    const { publicPort } = trial.world
    const [own, local] = await Promise.all(
      ['apps.test', 'localhost:4100'].map((host) => read(publicPort, host, 'first-app')),
    )
    expect(own).toContain('main.js 4321 http://apps.test/v1 http://sync.test/v1 http://auth.test/v1/oauth first-app\n')
    expect(own).toContain('connect-src http://auth.test http://apps.test/v1/.')
    expect(local).toContain(
      'main.js 4321 http://localhost:4100/apps/v1 http://localhost:4100/sync/v1 http://localhost:4100/auth/v1/oauth first-app\n',
    )
    expect(local).toContain('get http://localhost:4100/lms/v1/me/profile')
    expect(local).toContain('at http://localhost:4100/auth/v1/oauth/developers and accept')
    for (const page of [own, local]) {
      expect(page).toContain('This API answers at apps.test.')
      // The reader's own app.
      expect(page).toContain('--redirect http://localhost:4321/')
      expect(page).toContain('It is at http://localhost:5173/,')
    }
  })

  it('paths of localhost to programs that cannot resolve its hosts', async () => {
    const call = "process.env.API ?? 'http://localhost:4100/apps/v1'"
    expect(await read(trial.world.publicPort, 'apps.test', 'apps')).toContain(call)
    expect(await read(trial.world.publicPort, 'apps.test', 'sdk')).toContain(call)
  })

  it('public ones in production', () => {
    const at = (section: string) => `https://${section}.example/v1`
    const urls = { apps: at('apps'), lms: at('lms'), notify: at('notify'), sync: at('sync'), auth: at('auth') }
    const issuer = 'https://auth.example/v1/oauth'
    const ways: Ways = { urls, issuer, appsHost: 'apps.example', paths: undefined, trpc: undefined }
    const pages = new Map(
      docs.pages.map((page) => [page.slug, toText(docsPage({ docs, page, brand: undefined, ways }))]),
    )
    for (const [slug, text] of pages) expect([slug, left(slug, text)]).toEqual([slug, []])
    expect(pages.get('apps')).toContain("process.env.API ?? 'https://apps.example/v1'")
    expect(pages.get('apps')).toContain(':-https://auth.example/v1}/oauth/device/auth"')
    expect(pages.get('sync')).toContain(':-https://sync.example/v1}/batch"')
    expect(pages.get('sdk')).toContain("issuer: 'https://auth.example/v1/oauth',")
    expect(pages.get('sdk')).toContain("redirectUri: 'https://your-app.example/',")
    expect(pages.get('first-party')).toContain("'http://localhost:3001/trpc'")
    expect(pages.get('production')).toContain('APPS_BASE_URL=https://apps.example.org/v1')
  })

  it('an example of an issuer where members sign in elsewhere', async () => {
    const text = await read(external.publicPort, 'apps.test', 'apps')
    expect(text).toContain('The APIs are at http://apps.test/v1, ')
    expect(text).toContain('the issuer is https://auth.example.org/v1/oauth.')
  })

  it('escaped', () => {
    const urls = { apps: 'http://a/?<b>&"', lms: '', notify: '', sync: '', auth: undefined }
    const ways: Ways = { urls, issuer: undefined, appsHost: '', paths: undefined, trpc: undefined }
    const page = docs.pages.find(({ slug }) => slug === 'apps')!
    expect(docsPage({ docs, page, brand: undefined, ways })).toContain(
      '<code>http://a/?&lt;b&gt;&amp;&quot;/docs</code>',
    )
  })
})
