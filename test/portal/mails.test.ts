import { expect, it } from 'vitest'
import { portalMails } from '../../routers/developer/mails/member-mails.ts'
import { startCodeWorld } from '../oauth/code-world.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { PortalWorld } from './portal-world.ts'
import { portal, portalWorld, startPortal } from './portal-world.ts'

const team = portalWorld()
/** With a mail server. */
const mailing = started(
  async () => {
    const mails = await startCodeWorld()
    return { mails, ...(await startPortal({ auth: { codes: mails.startNode().codes } })) }
  },
  ({ mails, world }) => Promise.all([world.close(), mails.close()]),
)

const readSettings = (person: string) =>
  team.world.db.mailSettings.findUnique({ where: { personId: person }, select: { language: true, off: true } })

it('the first sign-in to the portal sets the language of mails, and later ones leave it', async () => {
  const person = team.world.ids.member
  const german = team.newBrowser()
  german.language = 'de'
  await team.signIn(person, german)
  expect(await readSettings(person)).toEqual({ language: 'de', off: [] })
  await team.signIn(person)
  expect(await readSettings(person)).toEqual({ language: 'de', off: [] })
})

it('the page of e-mails switches kinds off and on, and changes the language', async () => {
  const page = await team.asOwner.get(`${portal}/mails`)
  expect(page.text).toContain('This service has no mail server')
  expect(page.text.match(/type="checkbox"[^>]* checked/g)).toHaveLength(portalMails.length)
  const saved = await team.asOwner.follow(
    await team.asOwner.post(`${portal}/mails/save`, { wanted: ['invitation', 'webhookEnded', 'none'], language: 'de' }),
  )
  expect(saved.text).toContain('Saved.')
  expect(saved.text.match(/type="checkbox"[^>]* checked/g)).toHaveLength(2)
  expect(await readSettings(team.owner)).toEqual({
    language: 'de',
    off: [
      'requestReceived',
      'requestApproved',
      'requestRefused',
      'webhookFailing',
      'secretExpiring',
      'approvalRequested',
      'guardianAsked',
    ],
  })
  expect(await readSettings(team.colleague)).toEqual({ language: 'en', off: [] })
})

it('an invitation says that a mail is on its way where the service sends mails, else that none is', async () => {
  const invite = async ({ asOwner, own }: PortalWorld) => {
    const email = `${id('new')}@example.org`
    const page = await asOwner.follow(await asOwner.post(`${own}/people/invite`, { email, role: 'developer' }))
    return [/Invited\.[^<]*/.exec(page.text)![0], /id="invite-email-hint">([^<]*)/.exec(page.text)![1]]
  }
  expect(await invite(team)).toEqual([
    'Invited. No e-mail was sent: please ask them to sign in here with this address and accept.',
    'No e-mail is sent. The person has 7 days to sign in with this address and accept.',
  ])
  expect(await invite(mailing)).toEqual([
    'Invited. An e-mail is on its way.',
    'The person receives an e-mail and has 7 days to sign in with this address and accept.',
  ])
  expect((await mailing.asOwner.get(`${portal}/mails`)).text).not.toContain('This service has no mail server')
})
