import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromium, launchHeadlessShell, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import type { Service } from '../../process/service.ts'
import { command, dataDirectory, dataDirectoryWithCluster, send, start } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { emptyDatabase } from '../../support/databases.ts'

const browse = ({ port }: Service, path: string, host = `localhost:${port}`) =>
  send(port, 'GET', path, { headers: { host, accept: 'text/html' } })

describe('the page at / of the service', { timeout: 120_000 }, () => {
  it.each([
    ['in production', { NODE_ENV: 'production' }],
    ["with an operator's database", {}],
  ])('has no hints for a first look %s', async (_how, more) => {
    const env = { ...more, DATA_DIR: await dataDirectory(), DATABASE_URL: await emptyDatabase() }
    const service = await start(env)
    const { status, text } = await browse(service, '/')
    expect(status).toBe(200)
    expect(text).toContain('<h1>APIs for member apps</h1>')
    expect(text).toContain(`href="http://lms.localhost:${service.port}/v1/openapi.json"`)
    expect(text).toContain(`href="http://auth.localhost:${service.port}/v1/oauth/connected"`)
    expect(text).not.toMatch(/npm run|docs\/apps\.md|example\.localhost/)
    await service.stop()
  })

  it('with an external issuer leads to no page of connected apps', async () => {
    const service = await start({ TOKEN_ISSUER: 'https://id.example.org', DATA_DIR: await dataDirectoryWithCluster() })
    const { status, text } = await browse(service, '/')
    expect(status).toBe(200)
    expect(text).not.toMatch(/auth\.localhost|npm run|example\.localhost/)
    await service.stop()
  })

  it('offers no sample app whose client is removed', async () => {
    const env = { DATA_DIR: await dataDirectoryWithCluster() }
    const first = await start(env)
    expect((await browse(first, '/')).text).toContain(`href="http://example.localhost:${first.port}/"`)
    await first.stop()
    await command('client', ['remove', '--id', 'example-app', '--yes'], env).ended
    const service = await start(env)
    const { text } = await browse(service, '/')
    expect(text).toContain('npm run studio')
    expect(text).not.toContain('example.localhost')
    await service.stop()
  })
})

describe.skipIf(!chromium)(`in Chromium${skipReason}`, { timeout: 120_000 }, () => {
  let service: Service
  let browser: Browser
  const ends: (() => Promise<void>)[] = []
  const atEnd: AtEnd = (end) => void ends.unshift(end)
  beforeAll(async () => {
    service = await start({ DATA_DIR: await dataDirectoryWithCluster(atEnd) }, { atEnd })
    browser = await launchHeadlessShell()
    atEnd(() => browser.close())
  }, 120_000)
  afterAll(async () => {
    for (const end of ends) await end()
  })

  const address = (host: string, path: string) => `http://${host}localhost:${service.port}${path}`
  const open = async (url: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', ...options })
    const page = await context.newPage()
    const complaints: string[] = []
    const requests: string[] = []
    page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()))
    page.on('request', (request) => request.url().startsWith('data:') || requests.push(request.url()))
    const response = await page.goto(url)
    return { context, page, complaints, requests, status: response!.status() }
  }

  describe.each([
    { locale: 'de-DE', colorScheme: 'light', viewport: { width: 320, height: 640 } },
    { locale: 'en-GB', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  ] as const)('$locale, $colorScheme, $viewport.width wide', (look) => {
    // In one tab: a context with its processes costs 1.2 s of CPU.
    let context: BrowserContext
    let page: Page
    beforeAll(async () => {
      context = await browser.newContext({ ...look, bypassCSP: true })
      page = await context.newPage()
    })
    afterAll(() => context?.close())

    it.each([
      ['', '/', 200],
      ['', '/nowhere', 404],
      ['apps.', '/', 404],
      ['auth.', '/v1/oauth/conected', 404],
      ['example.', '/nowhere', 404],
    ] as const)('the page at %s %s breaks no rule of WCAG AA, and fits', async (host, path, expected) => {
      const response = await page.goto(address(host, path))
      expect(response!.status()).toBe(expected)
      expect(await page.evaluate('document.documentElement.lang')).toBe(look.locale.slice(0, 2))
      await expectAccessible(page)
    })
  })

  it('a page brings its style along, within its policy, and requests nothing', async () => {
    const url = address('', '/')
    const { context, page, complaints, requests } = await open(url)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderTopStyle`)).toBe('solid')
    await context.close()
    expect(complaints).toEqual([])
    expect(requests).toEqual([url])
  })

  it('leads by keyboard to the sample app, each reference and OpenAPI document, the connected apps and the errors', async () => {
    const { context, page } = await open(address('', '/'))
    const links: unknown[] = []
    for (let n = 0; n < 11; n++) {
      await page.keyboard.press('Tab')
      links.push(
        await page.evaluate('[document.activeElement.href, getComputedStyle(document.activeElement).outlineStyle]'),
      )
    }
    const ofApis = ['apps.', 'lms.', 'notify.'].flatMap((host) =>
      ['/v1/docs', '/v1/openapi.json'].map((path) => address(host, path)),
    )
    const others = [
      address('auth.', '/v1/oauth/connected'),
      address('apps.', '/v1/docs/errors'),
      address('auth.', '/v1/oauth/developers'),
      address('', '/llms.txt'),
    ]
    expect(links).toEqual([address('example.', '/'), ...ofApis, ...others].map((url) => [url, 'solid']))
    for (const [url] of links as [string][]) expect([url, (await page.goto(url))?.status()]).toEqual([url, 200])
    await context.close()
  })

  it('each unknown address leads back to a page that is there', async () => {
    for (const [host, path] of [
      ['', '/nowhere'],
      ['lms.', '/'],
      ['auth.', '/'],
      ['example.', '/nowhere'],
    ] as const) {
      const { context, page } = await open(address(host, path))
      await page.getByRole('link', { name: 'Overview' }).click()
      await page.getByRole('heading', { name: 'Your service is running' }).waitFor()
      expect(page.url()).toBe(address('', '/'))
      await context.close()
    }
  })
})
