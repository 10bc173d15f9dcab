import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import type { Language } from '../../../server/browser/language.ts'
import { languages } from '../../../server/browser/language.ts'
import { words } from '../../../server/browser/words/words.ts'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { openTestDatabase } from '../../support/test-database.ts'
import { inChromium } from '../in-chromium.ts'
import { pick, startAppPage } from '../sign-in-pages.ts'

const CLIENT = 'trainer-app'
const verifier = 'a-verifier-of-the-apps-of-children-of-43-characters'
const phone = (language: Language) => ({ locale: language, viewport: { width: 375, height: 812 }, bypassCSP: true })
const [child, parent] = [(language: Language) => `child-${language}`, (language: Language) => `parent-${language}`]

describe.skipIf(!chromium)(`a child and a parent with phones${skipReason}`, () => {
  /** The app's page. */
  let redirect: string
  const here = inChromium(async (_, atEnd) => {
    redirect = await startAppPage(atEnd)
    return { CONSENT_AGE: '16' }
  })
  const oauth = () => `http://auth.localhost:${here.service.port}/v1/oauth`
  const authorize = () =>
    `${oauth()}/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: CLIENT,
      redirect_uri: redirect,
      scope: 'svc.me.groups:read svc.me.events:read',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    })}`

  it.each(languages)('ask, approve and end access in %s', async (language) => {
    const w = words[language]
    const database = await startEmbedded(here.env.DATA_DIR!)
    const db = openTestDatabase(database.url)
    const names = { lastName: language, email: '' }
    const memberships = { create: { organisationId: 'riverside' } }
    await db.client.update({ where: { id: CLIENT }, data: { redirectUris: [redirect] } })
    await db.person.create({ data: { id: parent(language), firstName: 'Pia', ...names } })
    const guardians = { create: { guardianId: parent(language) } }
    await db.person.create({ data: { id: child(language), firstName: 'Kim', ...names, memberships, guardians } })

    const young = await here.visit(authorize(), phone(language))
    await pick(young.page, child(language))
    await young.page.getByText(w.guardianClosed.unasked).waitFor()
    await expectAccessible(young.page)
    await young.page.getByRole('button', { name: w.askGuardian.replace('{app}', 'Trainer') }).click()
    await young.page.getByText(w.guardianClosed.requested).waitFor()
    await expectAccessible(young.page)

    const older = await here.visit(`${oauth()}/family`, phone(language))
    await pick(older.page, parent(language))
    await older.page.getByRole('heading', { name: w.familyTitle }).waitFor()
    expect(await older.page.locator('main').innerText()).toContain(`Kim ${language}`)
    await expectAccessible(older.page)
    await older.page.getByRole('button', { name: w.approve }).click()
    await older.page.getByRole('status').waitFor()
    await expectAccessible(older.page)

    await young.page.goto(authorize())
    await young.page.locator('button[name=decision][value=allow]').click()
    await young.page.waitForURL(`${redirect}**`)
    expect(await db.consent.count({ where: { personId: child(language), withdrawnAt: null } })).toBe(1)

    await older.page.goto(`${oauth()}/family`)
    await older.page.getByRole('button', { name: w.withdraw }).click()
    await expectAccessible(older.page)
    await older.page.locator('form[action$="/withdraw"] button').click()
    await older.page.getByRole('status').waitFor()
    expect(await db.consent.count({ where: { personId: child(language), withdrawnAt: null } })).toBe(0)
    expect([young.complaints, older.complaints]).toEqual([[], []])
    await db.$disconnect()
    await database.stop()
  })
})
