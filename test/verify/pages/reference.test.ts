import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromium, launchHeadlessShell, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import type { Service } from '../../process/service.ts'
import { dataDirectoryWithCluster, start } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'

describe.skipIf(!chromium)(`the reference in Chromium${skipReason}`, { timeout: 120_000 }, () => {
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

  const docs = (api: string) => `http://${api}.localhost:${service.port}/v1/docs`
  const open = async (url: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext({ locale: 'en-GB', ...options })
    const page = await context.newPage()
    const complaints: string[] = []
    const hosts = new Set<string>()
    page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => request.url().startsWith('data:') || hosts.add(new URL(request.url()).hostname))
    await page.goto(url)
    return { context, page, complaints, hosts }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  async function signIn(page: Opened['page']) {
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.locator('select[name=member]').selectOption('anna')
    await page.locator('form[action$="/pick"] button').click()
    await page.locator('button[name=decision][value=allow]').click()
    await page.getByText('Signed in until').waitFor()
  }

  it('signs in by redirect, and sends what is in its forms, within its policy', async () => {
    const { context, page, complaints, hosts } = await open(docs('apps'))
    await signIn(page)
    expect(page.url()).toBe(docs('apps'))
    const put = page.locator('#storage-put')
    await put.getByLabel('collection').fill('boats')
    await put.getByLabel('key').fill('one')
    await put.getByLabel('Body').fill('{"value": {"crew": 4}}')
    await put.locator('summary', { hasText: 'curl' }).click()
    expect(await put.locator('pre', { hasText: 'curl -X PUT' }).textContent()).toContain(
      `'${docs('apps').replace('docs', 'storage/boats/one')}' \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -H 'content-type: application/json' -d '{"value": {"crew": 4}}'`,
    )
    await put.getByRole('button', { name: 'Send' }).click()
    const answer = put.getByRole('status')
    await answer.getByText('200 in').waitFor()
    expect(await answer.textContent()).toMatch(/etag: "[\w-]+"[\s\S]*x-request-id: [\s\S]*"crew": 4/)

    await put.getByLabel('If-Match').fill('"another"')
    await put.getByRole('button', { name: 'Send' }).click()
    await answer.getByText('412 in').waitFor()
    expect(await answer.textContent()).toContain('This entry has changed.')
    expect(complaints.filter((line) => !line.includes('412'))).toEqual([])
    expect([...hosts].sort()).toEqual(['apps.localhost', 'auth.localhost'])
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('refresh')
    await answer.getByRole('link', { name: 'What to do' }).click()
    expect(page.url()).toMatch(/\/v1\/docs\/errors#(?:entryChanged|status-412)$/)
    await context.close()
  })

  it('signs in at the address of localhost too, with the client that the address names', async () => {
    const { context, page, complaints } = await open(
      `http://localhost:${service.port}/lms/v1/docs?client_id=reference#quizzes-submit`,
    )
    await signIn(page)
    expect(page.url()).toBe(`http://localhost:${service.port}/lms/v1/docs#quizzes-submit`)
    await page.getByLabel('quizId').fill('closed-quiz')
    await page.getByLabel('Body').fill('{"answers": {}}')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('This quiz is closed.').last().waitFor()
    expect(complaints.filter((line) => !line.includes('409'))).toEqual([])
    await context.close()
  })

  it.each([
    ['apps', { colorScheme: 'light', viewport: { width: 1280, height: 800 } }],
    ['notify', { colorScheme: 'light', viewport: { width: 360, height: 640 } }],
    ['apps', { colorScheme: 'dark', viewport: { width: 320, height: 640 } }],
  ] as const)('of %s breaks no rule of WCAG AA, and fits: %j', async (api, look) => {
    const { context, page, complaints } = await open(docs(api), { ...look, bypassCSP: true })
    await page.evaluate(
      `for (const one of document.querySelectorAll('#session details, .operation:last-child details')) one.open = true`,
    )
    await expectAccessible(page)
    expect(complaints).toEqual([])
    if (look.colorScheme === 'dark') {
      await page.goto(`${docs(api)}/errors`)
      await expectAccessible(page)
    }
    await context.close()
  })

  it('is read without JavaScript', async () => {
    const { context, page } = await open(docs('notify'), { javaScriptEnabled: false })
    expect(await page.locator('.operation:visible').count()).toBe(3)
    expect(await page.locator('form:visible, button:visible').count()).toBe(0)
    await context.close()
  })
})
