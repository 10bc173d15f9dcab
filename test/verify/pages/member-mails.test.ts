import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { Database } from '../../../prisma/client.ts'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { migrate } from '../../../prisma/migrate.ts'
import { seed } from '../../../prisma/seed.ts'
import { memberScopesAt } from '../../../routers/kernel/scopes.ts'
import type { Language } from '../../../server/browser/language.ts'
import { languages } from '../../../server/browser/language.ts'
import { words } from '../../../server/browser/words/words.ts'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import type { Mail } from '../../oauth/mail-server.ts'
import { startMailServer } from '../../oauth/mail-server.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { openTestDatabase } from '../../support/test-database.ts'
import { inChromium } from '../in-chromium.ts'
import { startAppPage } from '../sign-in-pages.ts'

const CLIENT = 'trainer-app'
const [profile, groups] = ['svc.me.profile:read', 'svc.me.groups:read'] as const
const scope = `${profile} ${groups}`
const verifier = 'a-verifier-of-the-mails-to-members-of-43-characters'
const phone = (language: Language) => ({
  locale: language,
  viewport: { width: 375, height: 812 },
  hasTouch: true,
  bypassCSP: true,
})

const CODE = /\b\d{8}\b/
const isCode = ({ parts }: Mail) => CODE.test(parts['text/plain']!)

const mailbox = (language: Language) => `member.${language}@example.org`

/** A member of the club for each language. */
async function addMembers(db: Database, redirect: string) {
  for (const language of languages) {
    const memberships = { create: { organisationId: 'riverside' } }
    const person = { id: `of-${language}`, firstName: 'Mia', lastName: language, email: mailbox(language) }
    await db.person.create({ data: { ...person, memberships } })
  }
  await db.client.update({ where: { id: CLIENT }, data: { redirectUris: [redirect], devices: true } })
}

describe.skipIf(!chromium)(`mails to members, as a mail server receives them${skipReason}`, () => {
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  /** The app's page. */
  let redirect: string
  const here = inChromium(async (directory, atEnd) => {
    redirect = await startAppPage(atEnd)
    mailServer = await startMailServer()
    atEnd(mailServer.close)
    const database = await startEmbedded(directory)
    atEnd(() => database.stop())
    await migrate(database.url)
    const db = openTestDatabase(database.url)
    await seed(db, new Date(), memberScopesAt)
    await addMembers(db, redirect)
    await db.$disconnect()
    return {
      DATABASE_URL: database.url,
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'Member apps <no-reply@example.org>',
      BRAND: 'Riverside',
    }
  })
  const oauth = () => `http://auth.localhost:${here.service.port}/v1/oauth`
  const post = async (page: Page, path: string, fields: Record<string, string>) => {
    const headers = { host: new URL(oauth()).host, 'content-type': 'application/x-www-form-urlencoded' }
    const to = `http://localhost:${here.service.port}/v1/oauth${path}`
    return page.request.post(to, { headers, data: new URLSearchParams({ client_id: CLIENT, ...fields }).toString() })
  }
  const authorize = () =>
    `${oauth()}/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: CLIENT,
      redirect_uri: redirect,
      scope,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })}`

  /** Signs the member of a language in, with a code by e-mail. */
  async function signIn(language: Language, url: string) {
    const { page } = await here.visit(url, phone(language))
    const before = mailServer.mailsTo(mailbox(language)).filter(isCode).length
    await page.locator('#email').fill(mailbox(language))
    await page.locator('form[action$="/email"] button').click()
    await page.locator('#code').waitFor()
    await expect.poll(() => mailServer.mailsTo(mailbox(language)).filter(isCode).length).toBe(before + 1)
    const mail = mailServer.mailsTo(mailbox(language)).filter(isCode).at(-1)!
    await page.locator('#code').fill(CODE.exec(mail.parts['text/plain']!)![0])
    await page.locator('form[action$="/code"] button').click()
    await page.locator('#code').waitFor({ state: 'detached' })
    return page
  }
  const mailsAbout = (language: Language) => mailServer.mailsTo(mailbox(language)).filter((mail) => !isCode(mail))
  const subject = (text: string) => text.replace('{app}', 'Trainer')

  it('tell in six languages who has access to what, and lead to the page where it ends', async () => {
    for (const language of languages) {
      const page = await signIn(language, authorize())
      await page.locator('button[name=decision][value=allow]').click()
      await page.waitForURL(`${redirect}**`)
    }
    for (const language of languages) {
      await expect.poll(() => mailsAbout(language).length).toBe(1)
      const [{ headers, parts }] = mailsAbout(language) as [ReturnType<typeof mailsAbout>[number]]
      const w = words[language]
      expect(headers.subject).toBe(subject(w.mails.access.granted.subject))
      const read = parts['text/plain']!.replaceAll('\r\n', '\n')
      for (const part of ['Builders GmbH', 'SV Riverside 1921', w.scopes[profile], w.scopes[groups]]) {
        expect(read).toContain(part)
      }
      const [link] = /http\S+\/connected/.exec(read)!
      expect(new URL(link).pathname).toBe('/v1/oauth/connected')
      const { page, context } = await here.visit(undefined, { viewport: { width: 375, height: 812 }, bypassCSP: true })
      await page.setContent(parts['text/html']!)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(await page.locator('a').getAttribute('href')).toBe(link)
      await context.close()
    }
  })

  it.each(languages)(
    'the page that they lead to fits 375 px, and takes a request for a copy, in %s',
    async (language) => {
      const page = await signIn(language, `${oauth()}/connected`)
      const w = words[language]
      await page.getByRole('heading', { name: w.dataRequest.title }).waitFor()
      await expectAccessible(page)
      await page.getByRole('button', { name: w.dataRequest.ask }).click()
      await page.locator('[role=status] time').first().waitFor()
      expect(await page.locator('[role=status] time').count()).toBe(2)
      expect(await page.getByRole('button', { name: w.dataRequest.ask }).count()).toBe(0)
      await expectAccessible(page)
    },
  )

  it('tell of a device, and of access that a replay has ended', async () => {
    const page = await signIn('fr', `${oauth()}/connected`)
    const begun = await (await post(page, '/device/auth', { scope: profile })).json()
    await page.goto(begun.verification_uri_complete)
    await page.locator('main button').click()
    await page.locator('button[name=decision][value=allow]').click()
    await page.getByText(words.fr.messages.deviceAllowed.title).first().waitFor()

    await page.goto(`${authorize()}&prompt=consent`)
    await page.locator('button[name=decision][value=allow]').click()
    await page.waitForURL(`${redirect}**`)
    const code = new URL(page.url()).searchParams.get('code')!
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirect }
    const { refresh_token: first } = await (await post(page, '/token', fields)).json()
    expect(first).toEqual(expect.any(String))
    const renew = async (refresh_token: string) =>
      (await post(page, '/token', { grant_type: 'refresh_token', refresh_token })).json()
    const { refresh_token: second } = await renew(first)
    await renew(second)
    expect((await renew(first)).error).toBe('invalid_grant')

    const { device, replayed } = words.fr.mails.access
    const expected = [device.subject, replayed].map(subject)
    const subjects = () => mailsAbout('fr').map(({ headers }) => headers.subject!)
    const received = () => subjects().filter((one) => expected.includes(one))
    await expect.poll(() => received().toSorted()).toEqual(expected.toSorted())
  })
})
