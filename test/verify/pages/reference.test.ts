import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { printedCalls } from '../../pages/printed-code.ts'
import { command } from '../../process/service.ts'
import { inChromium } from '../in-chromium.ts'
import { decide, pick } from '../sign-in-pages.ts'

const run = promisify(execFile)

describe.skipIf(!chromium)(`the reference in Chromium${skipReason}`, () => {
  const here = inChromium()
  const docs = (api: string) => `http://${api}.localhost:${here.service.port}/v1/docs`
  async function signIn(page: Page) {
    await page.getByRole('button', { name: 'Sign in' }).click()
    await pick(page)
    await decide(page, 'allow')
    await page.getByText(/^Signed in as \S+ of \S+ with the app reference until/).waitFor()
  }

  it('says that signing in works at https or localhost only, where the browser has no crypto.subtle', async () => {
    const { page } = await here.visit()
    await page.addInitScript(`Object.defineProperty(crypto, 'subtle', { value: undefined })`)
    await page.goto(docs('apps'))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('status').getByText('Signing in works at https or localhost only.').waitFor()
    expect(page.url()).toBe(docs('apps'))
  })

  it('shows its forms and sends calls where the browser allows no storage', async () => {
    const { page } = await here.visit()
    const denied = `get() { throw new DOMException('Access is denied for this document.', 'SecurityError') }`
    await page.addInitScript(`Object.defineProperty(globalThis, 'sessionStorage', { ${denied} })`)
    await page.goto(`${docs('apps')}?state=BY&code=DE`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Signing in needs storage, which your browser does not allow this page.').waitFor()
    await page.getByText('Use an existing token').click()
    await page.locator('#token-form input').fill('none')
    await page.locator('#token-form button').click()
    const form = page.locator('form[data-path="/me/profile"]')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText(/^401 in/).waitFor()
    expect(page.url()).toBe(`${docs('apps')}?state=BY&code=DE`)
  })

  it('signs in by redirect, and sends what is in its forms, within its policy', async () => {
    const { page, complaints, requests } = await here.visit(docs('apps'))
    await signIn(page)
    expect(page.url()).toBe(docs('apps'))
    const put = page.locator('#storagePut')
    await put.getByLabel('collection').fill('boats')
    await put.getByLabel('key path').fill('one')
    await put.getByLabel('Body').fill('{"value": {"crew": 4}}')
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
    const hosts = new Set(requests.map((url) => new URL(url).hostname))
    expect([...hosts].sort()).toEqual(['apps.localhost', 'auth.localhost'])
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('refresh')
    await answer.getByRole('link', { name: 'What to do' }).click()
    expect(page.url()).toMatch(/\/v1\/docs\/errors#(?:entryChanged|status-412)$/)
  })

  it('says that there is no answer, in place of the one before', async () => {
    const { page } = await here.visit(docs('apps'))
    const form = page.locator('form[data-path="/me/profile"]')
    const send = form.getByRole('button', { name: 'Send' })
    await send.click()
    await form.getByText(/^401 in/).waitFor()
    await page.route('**/v1/me/profile', (route) => route.abort())
    await send.click()
    await form.getByText(/^There is no answer: ./).waitFor()
    expect(await form.getByText(/^401 in/).count()).toBe(0)
    await page.route('**/oauth/token', (route) => route.abort())
    await page.getByRole('button', { name: 'Sign in' }).click()
    await pick(page)
    await decide(page, 'allow')
    await page.getByText(/^Signing in did not work: ./).waitFor()
  })

  it('signs in at the address of localhost too, with the client that the address names', async () => {
    const { page, complaints } = await here.visit(
      `http://localhost:${here.service.port}/lms/v1/docs?client_id=reference#quizzesSubmit`,
    )
    await signIn(page)
    expect(page.url()).toBe(`http://localhost:${here.service.port}/lms/v1/docs#quizzesSubmit`)
    await page.getByLabel('quizId').fill('closed-quiz')
    await page.getByLabel('Body').fill('{"answers": {}}')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('This quiz is closed.').last().waitFor()
    expect(complaints.filter((line) => !line.includes('409'))).toEqual([])
  })

  it('uses one token of a club at each API, and one of an academy beside it, without another registration', async () => {
    const { page, complaints } = await here.visit(docs('apps'))
    await signIn(page)
    const open = (api: string) => page.locator('.side').getByRole('link', { name: api, exact: true }).click()
    const send = async (id: string) => {
      const operation = page.locator(`#${id}`)
      await operation.getByRole('button', { name: 'Send' }).click()
      return (await operation
        .getByRole('status')
        .getByText(/^\d+ in/)
        .textContent())!
    }
    await open('sync')
    await page.waitForURL(`${docs('apps')}?api=sync`)
    await page.getByText(/^Signed in as \S+ of riverside with the app reference until/).waitFor()
    expect(await send('storageCollections')).toMatch(/^200 in/)
    await page.getByRole('button', { name: 'Sign in for an academy' }).click()
    await decide(page, 'allow')
    await page.getByText(/of riverside.* of academy with the app reference until/).waitFor()
    expect(page.url()).toBe(`${docs('apps')}?api=sync`)
    await page.getByRole('button', { name: 'Sign in for a provider' }).click()
    await decide(page, 'refuse')
    await page.getByText('You did not allow it.').waitFor()
    expect(await send('storageCollections')).toMatch(/^200 in/)
    expect(await send('quizzesGet')).toMatch(/^200 in/)
    await open('lms')
    await page.waitForURL(`${docs('apps')}?api=lms`)
    await page.getByText(/^Signed in as \S+ of academy/).waitFor()
    await page.locator('.tabs').getByRole('link', { name: 'PHP' }).first().click()
    await page.locator('[data-code=php]').first().waitFor()
    expect(page.url()).toContain('?api=lms&code=php#')
    await open('apps')
    await page.waitForURL(docs('apps'))
    await page.getByText(/^Signed in as \S+ of riverside/).waitFor()
    await page.getByRole('button', { name: 'Discard the token' }).click()
    await open('lms')
    await page.getByText(/^Calls are made as the app reference/).waitFor()
    expect(complaints).toEqual([])
  })

  const phone = { width: 320, height: 640 }
  /** As high as the sidebar is long. */
  const desktop = { width: 1440, height: 1_400 }

  it.each([
    ['apps', 'light', desktop],
    ['apps', 'dark', phone],
    ['lms', 'light', phone],
    ['notify', 'dark', desktop],
  ] as const)('of %s breaks no rule of WCAG AA, and fits: %s, %j', async (api, colorScheme, viewport) => {
    const { page, complaints } = await here.visit(docs(api), { colorScheme, viewport, bypassCSP: true })
    const unfold = () => page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
    for (const language of ['curl', 'php', 'trpc']) {
      await page.goto(`${docs(api)}?code=${language}`)
      await unfold()
      await expectAccessible(page)
    }
    await page.goto(`${docs(api)}/errors`)
    await unfold()
    await expectAccessible(page)
    expect(complaints).toEqual([])
  })

  it('is read without JavaScript: sidebar, text, and code by language', async () => {
    const { page } = await here.visit(docs('notify'), { javaScriptEnabled: false, viewport: phone })
    expect(await page.locator('.operation:has(.tabs):visible').count()).toBe(3)
    expect(await page.locator('main :is(form, button):visible').count()).toBe(0)
    const get = page.locator('#webhookGet')
    expect(await get.locator('pre:visible').first().textContent()).toMatch(/^curl/)
    await get.getByRole('link', { name: 'SDK' }).click()
    expect(page.url()).toBe(`${docs('notify')}?code=sdk#webhookGet`)
    expect(await get.locator('[data-code] pre').textContent()).toContain("api.webhook.get('trainer-app')")
    await page.goto(docs('notify'))
    expect(await get.locator('[data-code] pre').textContent()).toContain("api.webhook.get('trainer-app')")
    await page.getByText('Contents').click()
    await page.locator('.pages').getByRole('link', { name: 'PUT /apps/{id}/webhook' }).click()
    expect(page.url()).toBe(`${docs('notify')}#webhookPut`)
  })

  it('marks the operation of the address in the sidebar, without a script', async () => {
    const { page } = await here.visit(`${docs('apps')}#storageGet`, { javaScriptEnabled: false, viewport: desktop })
    const marked = `[...document.querySelectorAll('.pages a:has(b)')].filter((link) => getComputedStyle(link).boxShadow !== 'none').map((link) => link.getAttribute('href'))`
    expect(await page.evaluate(marked)).toEqual(['#storageGet'])
    await page.locator('.pages').getByRole('link', { name: 'DELETE' }).click()
    expect(await page.evaluate(marked)).toEqual(['#storageDelete'])
  })

  it('writes what is typed and the ids of the address in every language, and keeps the chosen one', async () => {
    const { page, complaints } = await here.visit(`${docs('notify')}?client_id=reference&id=my-app`, {
      viewport: desktop,
    })
    const code = (id: string) => page.locator(`#${id} [data-code] code`).textContent()
    const choose = async (id: string, language: string, shown: string) => {
      await page.locator(`#${id} .tabs`).getByRole('link', { name: language, exact: true }).click()
      await page.locator(`#${id} [data-code=${shown}]`).waitFor()
    }
    expect(await code('webhookGet')).toContain(`/apps/my-app/webhook'`)
    await page.locator('#webhookPut').getByLabel('Body').fill(`{"url": "https://a.example/it's"}`)
    expect(await code('webhookPut')).toContain(`-d '{"url": "https://a.example/it'\\''s"}'`)
    await choose('webhookPut', 'JavaScript', 'javascript')
    expect(await code('webhookPut')).toContain(`JSON.stringify({ url: "https://a.example/it's" })`)
    await choose('webhookPut', 'SDK', 'sdk')
    expect(await code('webhookPut')).toContain(`api.webhook.put('my-app', { url: "https://a.example/it's" })`)
    await choose('webhookPut', 'Go', 'go')
    // All operations, and the next page of the browser.
    expect(await code('webhookGet')).toContain(`/v1/apps/my-app/webhook"`)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Go')
    expect(page.url()).toBe(`${docs('notify')}?code=go#webhookPut`)
    await page.goto(docs('notify'))
    await expect.poll(() => code('webhookGet')).toContain(`/v1/apps/my-app/webhook"`)
    expect(await page.locator('#webhookGet [data-code] .string').count()).toBe(0)
    await page.locator('#webhookGet').getByLabel('id').fill('trainer-app')
    expect(await page.locator('#webhookGet [data-code] .string').count()).toBeGreaterThan(0)
    expect(complaints).toEqual([])
  })

  it('copies the code that is shown', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    const { page } = await here.visit(`http://localhost:${here.service.port}/apps/v1/docs`, { permissions })
    const block = page.locator('#meProfile [data-code=curl]')
    await block.hover()
    await block.getByRole('button', { name: 'Copy' }).click()
    await block.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await block.locator('code').textContent())
  })

  it.each([
    ['storage.put scope storage:write', 'PUT /storage/{collection}/{key}', 'API apps', '#storagePut'],
    ['entryChanged', '412 entryChanged', 'Errors', '/errors#entryChanged'],
    ['storage list', 'GET /storage/{collection}', 'API apps', '#storageList'],
  ])('finds %s by keyboard alone, and asks for it only then', async (text, heading, kind, address) => {
    const { page, complaints } = await here.visit(docs('apps'), { viewport: desktop })
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.keyboard.press('/')
    await page.keyboard.type(text)
    const result = page.locator('.results a', { hasText: heading }).filter({ hasText: kind }).first()
    await result.waitFor()
    expect(new Set(asked)).toEqual(new Set(['/docs/search.json']))
    const at = await result.evaluate((link) => [...link.closest('ul')!.querySelectorAll('a')].indexOf(link as never))
    for (let i = 0; i <= at; i++) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${docs('apps')}${address}`)
    expect(await page.locator('.results').isVisible()).toBe(false)
    expect(complaints).toEqual([])
  })

  it('finds an operation from the page of the errors, and closes on Escape', async () => {
    const { page } = await here.visit(`${docs('lms')}/errors`)
    await page.getByRole('searchbox').fill('quizzes')
    const result = page.locator('.results a', { hasText: 'POST /quizzes/{quizId}/results' }).first()
    expect(await result.evaluate((link) => (link as never as { href: string }).href)).toMatch(
      /\/v1\/docs#quizzesSubmit$/,
    )
    await page.keyboard.press('Escape')
    expect(await page.locator('.results').isVisible()).toBe(false)
  })

  it('prints text and code, as wide as the paper, and no forms', async () => {
    const { page } = await here.visit(docs('apps'), { colorScheme: 'dark' })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await page.setViewportSize({ width: 700, height: 990 })
    expect(await page.locator('.side:visible, form:visible, .copy:visible, .tabs:visible').count()).toBe(0)
    expect(await page.locator('#storagePut [data-code]:visible').count()).toBe(1)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(700)
    expect(await page.evaluate(`getComputedStyle(document.body).color`)).toBe('rgb(0, 0, 0)')
  })

  it.each(['apps', 'lms', 'notify', 'sync'] as const)('has lines of curl for %s that bash runs', async (api) => {
    const printed = await printedCalls(
      async (query) => (await fetch(`http://localhost:${here.service.port}/${api}/v1/docs${query}`)).text(),
      ['curl'],
    )
    const tokenFor = async (organisation: string) => {
      const words = ['--client', 'trainer-app', '--member', 'anna', '--club', organisation]
      return (await command('token', words, here.env).ended).stdout.trim()
    }
    const organisations = { apps: 'riverside', lms: 'academy', notify: 'provider', sync: 'riverside' }
    const ofSync: Record<string, string> = { quizzes: 'academy', events: 'provider', addresses: 'provider' }
    const findOrganisation = (id: string) => (api === 'sync' && ofSync[/^[a-z]+/.exec(id)![0]]) || organisations[api]
    const tokens = new Map<string, string>()
    const runLine = async (line: string, id: string) => {
      const organisation = findOrganisation(id)
      if (!tokens.has(organisation)) tokens.set(organisation, await tokenFor(organisation))
      const env = { ...process.env, TOKEN: tokens.get(organisation) }
      return (await run('bash', ['-c', line], { env })).stdout
    }
    const readStatus = (line: string, id: string) => runLine(`${line} -s -o /dev/null -w '%{http_code}'`, id)
    const createAddress = async () => {
      const { id, code } = printed.find((one) => one.id === 'addressesCreate')!
      return JSON.parse(await runLine(`${code.curl} -s`, id)).id as string
    }
    const put = printed.find(({ id }) => id.endsWith('Put'))
    expect(printed.length).toBeGreaterThan(0)
    for (const { id, code } of printed) {
      if (put) await readStatus(put.code.curl!, put.id)
      // Rules are for the app itself: a member's token is refused. This service has no certificate for passes.
      const refused = /^storageRules/.test(id) ? '403' : id === 'cardPass' && '404'
      const expected = refused || expect.stringMatching(/^20[014]$/)
      const line = /^addresses(?:Update|Remove)$/.test(id)
        ? code.curl!.replace(/addresses\/[\w-]+/, `addresses/${await createAddress()}`)
        : code.curl!
      expect([id, await readStatus(line, id)]).toEqual([id, expected])
    }
  })
})
