import { beforeEach, describe, expect, it } from 'vitest'
import { asPlatform, mintApp, readRefusal } from '../support/platform.ts'
import { startedAround } from '../support/started.ts'
import { portalWorld, startPortal } from './portal-world.ts'

const team = portalWorld({ clubApproval: true })
const without = startedAround(() => startPortal())

beforeEach(async () => {
  const { db, ids } = team.world
  await db.clubApproval.deleteMany({ where: { appId: ids.app } })
  await db.auditEntry.deleteMany({ where: { teamId: ids.team } })
})

const reason = 'We have <b>one</b>.'
const refuse = () => {
  const { club, app } = team.world.ids
  return asPlatform(team.world).directory.approvals.set({ club, app, state: 'refused', reason })
}

describe('the clubs of an app', () => {
  it('are linked from its page, with their decision and reason', async () => {
    const page = `${team.app}/clubs`
    expect((await team.asColleague.get(team.app)).text).toContain(`href="${new URL(page).pathname}"`)
    expect((await team.asColleague.get(page)).text).toContain('No member has asked a club')
    await refuse()
    const { text } = await team.asColleague.get(page)
    expect(text).toMatch(/refused<br><bdi>We have &lt;b&gt;one&lt;\/b&gt;\.<\/bdi>/)
    expect(text).toContain(`<code>${team.world.ids.club}</code>`)
    const german = await team.asColleague.get(page, { 'accept-language': 'de' })
    expect(german.text).toMatch(/abgelehnt<br>/)
  })

  it('are in the audit log with the club, and without who decided', async () => {
    await refuse()
    const { text } = await team.asOwner.get(`${team.own}/audit`, { 'accept-language': 'de' })
    expect(text).toContain('Von einem Verein abgelehnt')
    expect(text).toMatch(/<dt>Verein<\/dt><dd><bdi>Club<\/bdi>/)
    expect(text).toMatch(/<dt>Grund<\/dt><dd><bdi>We have &lt;b&gt;one&lt;/)
    expect(text).not.toContain('· der Betreiber')
    expect(text).toContain(`/apps/${team.world.ids.app}"><bdi>App`)
  })

  it('of another team are unknown', async () => {
    expect((await team.asStranger.get(`${team.app}/clubs`)).status).toBe(404)
    const clubs = team.as(team.stranger).apps.clubs({ app: await mintApp(team.world) })
    expect(await readRefusal(clubs)).toMatchObject({ status: 404 })
  })

  it('come page by page, the last change first', async () => {
    const { db, ids } = team.world
    const clubs = Array.from({ length: 31 }, (_, n) => ({
      id: `${ids.club}-${n}`,
      kind: 'club' as const,
      name: `${n}.`,
    }))
    await db.organisation.createMany({ data: clubs })
    const decided = { appId: ids.app, state: 'approved' as const, decidedAt: new Date() }
    await db.clubApproval.createMany({ data: clubs.map(({ id }) => ({ ...decided, organisationId: id })) })
    const shown = async (offset: number) =>
      [...(await team.asOwner.get(`${team.app}/clubs?offset=${offset}`)).text.matchAll(/<bdi>(\d+)\.<\/bdi>/g)].map(
        ([, n]) => Number(n),
      )
    expect(await shown(0)).toEqual(Array.from({ length: 30 }, (_, n) => 30 - n))
    expect(await shown(30)).toEqual([0])
  })

  it('have no page without CLUB_APPROVAL', async () => {
    expect((await without.asOwner.get(`${without.app}/clubs`)).status).toBe(404)
    expect((await without.asOwner.get(without.app)).text).not.toContain('/clubs"')
  })
})
