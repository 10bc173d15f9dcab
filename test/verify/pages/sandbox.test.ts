import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { routes } from '../../../rest-facade/routes.ts'
import type { Section } from '../../../routers/kernel/scopes.ts'
import { sectionNames } from '../../../routers/kernel/scopes.ts'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { startReceiver } from '../../webhooks/receiver.ts'
import { inChromium } from '../in-chromium.ts'
import { noteFigure } from '../noted-figure.ts'
import { decide, pick } from '../sign-in-pages.ts'

/**
 * From the sign-in to an answer with content of each endpoint, and to a delivered event. A person takes longer than this script,
 * by typing.
 */
const BOUND_S = 60
const note = (what: string, ms: number) =>
  noteFigure({ name: `sign-in to ${what}`, value: ms / 1000, unit: 's', bound: BOUND_S })

describe.skipIf(!chromium)(`a developer without a club platform${skipReason}`, () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  const here = inChromium(async (directory, atEnd) => {
    receiver = await startReceiver()
    atEnd(receiver.close)
    const authority = join(directory, 'authority.pem')
    await writeFile(authority, receiver.ca)
    return { NODE_EXTRA_CA_CERTS: authority, WEBHOOK_ALLOW: '127.0.0.1' }
  })

  const listRoutes = (api: Section) =>
    routes.filter(({ section }) => section === api).map(({ method, path }) => `${method} ${path}`)
  const references = { apps: 'Member data', lms: 'Quizzes', notify: 'Webhooks', sync: 'Sync' }

  /** In the portal, signed in, with a new app. */
  async function createApp() {
    const { page } = await here.visit(`http://auth.localhost:${here.service.port}/v1/oauth/developers`)
    await pick(page)
    await page.getByRole('link', { name: 'Builders GmbH' }).click()
    await page.getByText('New app').click()
    await page.getByLabel('Name').fill('Scores')
    await page.getByRole('button', { name: 'Create app' }).click()
    await page.getByText('Created.').waitFor()
    return page
  }

  async function createClient() {
    const page = await createApp()
    await page.getByRole('link', { name: 'Clients', exact: true }).click()
    const form = page.locator('form[action$="/clients/create"]')
    await form.getByLabel('Name', { exact: true }).fill('Scores')
    await form.getByLabel('Redirect URIs').fill('http://localhost:4321/')
    for (const scope of await form.getByRole('checkbox').all()) await scope.check()
    await form.getByRole('button', { name: 'Create client' }).click()
    await page.getByText('Created.').waitFor()
    // The first client leads to the commands for a page; this one is called from its references.
    await page.getByRole('navigation', { name: 'Pages of the client' }).getByRole('link', { name: 'Overview' }).click()
    await page.waitForURL(/\/clients\/[^/]+$/)
    return page
  }

  /** Opens an API's reference from the client's page, and signs in as the first test member. */
  async function openReference(page: Page, client: string, api: keyof typeof references) {
    await page.goto(client)
    await page.getByRole('button', { name: references[api] }).click()
    await signInToCall(page, 'Sign in')
  }
  async function signInToCall(page: Page, name: string) {
    await page.getByRole('button', { name }).first().click()
    await decide(page, 'allow')
    await page.getByText(/^Signed in as/).waitFor()
  }

  async function send(operation: Locator) {
    await operation.getByRole('button', { name: 'Send' }).click()
    const answer = operation.getByRole('status')
    await answer.getByText(/^\d+ in \d+ ms/).waitFor()
    return (await answer.textContent())!
  }

  /** A token is for one organisation. */
  const toOperationType = (path: string) =>
    path.startsWith('/quiz')
      ? 'Sign in for an academy'
      : /^\/(?:events|addresses)/.test(path)
        ? 'Sign in for a provider'
        : 'Sign in for a club'
  /** The id in the answer of what creates something. */
  const idIn = (answer: string | undefined) => /"id": "([^"]+)"/.exec(answer!)![1]!

  it('sees each endpoint answer with content', async () => {
    const began = performance.now()
    const page = await createClient()
    const client = page.url()

    const answers: Record<string, string> = {}
    let first: number | undefined
    for (const api of sectionNames) {
      await openReference(page, client, api)
      let kind = 'Sign in for a club'
      // What removes an entry or a webhook comes last.
      for (const form of await page.locator('form[data-path]').all()) {
        const [method, path] = [await form.getAttribute('data-method'), await form.getAttribute('data-path')]
        const needed = api === 'sync' ? toOperationType(path!) : kind
        if (needed !== kind) {
          kind = needed
          await signInToCall(page, kind)
        }
        if (path === '/quiz-results/{resultId}') {
          await form.getByLabel('resultId').fill(idIn(answers['POST /quizzes/{quizId}/results']))
        }
        if (path === '/addresses/{addressId}') {
          await form.getByLabel('addressId').fill(idIn(answers['POST /addresses']))
        }
        answers[`${method} ${path}`] = await send(form)
        first ??= performance.now() - began
      }
    }
    // Nothing has happened in the test club.
    expect(answers['GET /events']).toMatch(/^200 in[\s\S]*"items": \[\]/)
    // For tokens of the app itself.
    const rules = ['GET /collections/{collection}/rules', 'PUT /collections/{collection}/rules']
    for (const route of rules) expect(answers[route]).toMatch(/^403 in[\s\S]*Only the app itself can do this\./)
    expect(answers['GET /addresses']).toMatch(/^200 in[\s\S]*"items": \[\]/)
    // This service has no certificate.
    expect(answers['GET /membercard/pass']).toMatch(/^404 in/)
    const others = ['GET /events', 'GET /addresses', 'GET /membercard/pass', ...rules]
    for (const route of others) delete answers[route]
    const served = sectionNames.flatMap(listRoutes).filter((route) => !others.includes(route))
    expect(Object.keys(answers).sort()).toEqual(served.sort())
    for (const [route, answer] of Object.entries(answers)) {
      expect([route, answer]).toEqual([route, expect.stringMatching(/^20[014] in/)])
      expect([route, answer]).toEqual([
        route,
        expect.not.stringMatching(/"items": \[\]|"card": null|"(?:url|firstName)": ""/),
      ])
    }
    note('first call', first!)
    note('content of each endpoint', performance.now() - began)
  })

  it('gets a first event at its webhook, and sees it delivered', async () => {
    const began = performance.now()
    const page = await createApp()
    await page.getByRole('link', { name: 'Webhook', exact: true }).first().click()
    await page.getByLabel('Address').fill(receiver.url())
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await expect.poll(() => receiver.received.length).toBe(1)
    note('first delivered event', performance.now() - began)
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]]
    expect([JSON.parse(body).type, headers['webhook-id']]).toEqual(['webhook.test', expect.any(String)])
    await expect
      .poll(async () => {
        await page.reload()
        return page.getByText('delivered').count()
      })
      .toBeGreaterThan(0)
  })

  it('gets an event for each change of a test member, at its webhook and from the feed', async () => {
    const page = await createClient()
    const client = page.url()
    const team = client.replace(/\/clients\/.*/, '')
    const link = await page.locator('a[href*="/apps/"]').first().getAttribute('href')
    const app = new URL(link!, client).href.replace(/(\/apps\/[^/?]+).*/, '$1')
    await page.goto(`${app}/webhook`)
    await page.getByLabel('Address').fill(receiver.url())
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    const before = receiver.received.length
    const listReceived = () => receiver.received.slice(before).map(({ body }) => JSON.parse(body).type)
    /** In the portal; the member's row has the buttons. */
    const press = async (member: string, name: string) => {
      await page.goto(`${team}/test-club`)
      await page.locator('.entry', { hasText: member }).getByRole('button', { name }).first().click()
      await page.getByText(/^(?:Changed|Reviewed)\. /).waitFor()
    }
    const signInAs = async (api: keyof typeof references, member: string, button = 'Sign in') => {
      await page.goto(client)
      await page.getByRole('button', { name: references[api] }).click()
      await page.getByRole('button', { name: button }).first().click()
      await page.getByLabel(member).first().check()
      await decide(page, 'allow')
      await page.getByText(/^Signed in as/).waitFor()
    }

    await signInAs('apps', 'Alex')
    await press('Alex', 'Change the profile')
    await expect.poll(listReceived).toEqual(['member.profile.changed'])
    await signInAs('lms', 'Alex')
    const submit = page.locator('form[data-path="/quizzes/{quizId}/results"]')
    const quiz = await submit.getByLabel('quizId').inputValue()
    await submit.getByLabel('quizId').fill(quiz.replace(/[a-z]+-quiz$/, 'open-quiz'))
    await submit.getByLabel('Body').fill('{"answers":{"q1":"Yes","q2":"A game"}}')
    expect(await send(submit)).toMatch(/^201 in/)
    await signInAs('sync', 'Alex', 'Sign in for an academy')
    await press('Alex', 'All answers are correct')
    await expect.poll(listReceived).toEqual(['member.profile.changed', 'quiz.reviewed'])
    await page.goto(`${team}/test-club`)
    const ownClient = page.locator(`input[value="${client.split('/').at(-1)}"]`)
    await page.locator('form', { has: ownClient }).getByRole('button', { name: 'Withdraw as Alex' }).click()
    const withdrawn = ['consent.withdrawn', 'consent.withdrawn']
    await expect.poll(listReceived).toEqual(['member.profile.changed', 'quiz.reviewed', ...withdrawn])
    await signInAs('apps', 'Kim')
    await press('Kim', 'Leave club and academy')
    await expect.poll(() => listReceived().slice(4)).toEqual(['member.left'])
    await press('Kim', 'Join again')
    await expect.poll(() => listReceived().slice(5)).toEqual(['consent.withdrawn'])
    await openReference(page, client, 'sync')
    await signInToCall(page, 'Sign in for a provider')
    const feed = await send(page.locator('form[data-path="/events"]'))
    for (const type of listReceived()) expect(feed).toContain(type)
  })
})
