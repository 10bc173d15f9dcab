import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  removeOldAuditEntries,
  removeOldInvitations,
  removeOldMails,
  removeRefusedTeams,
} from '../../routers/developer/retention.ts'
import { clearExpiredSecrets } from '../../routers/webhooks/stored-secrets.ts'
import { removeOldConsents } from '../../server/oauth/consents/retention.ts'
import { deleteExpiredRecords } from '../../server/oauth/engine/expired-records.ts'
import { removeEndedSubscriptions } from '../../server/webhooks/purge.ts'
import { createTenant } from '../support/tenant.ts'
import { startQueue } from '../webhooks/queue-world.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-11-22T12:00:00Z')
const at = (days: number, ms = 0) => new Date(NOW + days * DAY_MS + ms)

interface Dates {
  createdAt: Date
  withdrawnAt?: Date
  replayedAt?: Date
}

/** Consents of a member by their names, and the names of those that are left. */
async function startConsents(consents: Record<string, Dates>) {
  const { db } = await startQueue()
  const { member: personId, club: organisationId, client: clientId } = await createTenant(db)
  const of = { personId, organisationId, clientId, scopes: [] }
  await db.consent.createMany({ data: Object.entries(consents).map(([id, dates]) => ({ id, ...of, ...dates })) })
  const left = async () =>
    (await db.consent.findMany({ where: { personId }, select: { id: true } })).map(({ id }) => id).toSorted()
  return { db, left }
}

describe('after their periods', () => {
  it('withdrawn consents and those whose year ran out are removed, and those in force stay', async () => {
    const { db, left } = await startConsents({
      'in force': { createdAt: at(-364) },
      'ran out lately': { createdAt: at(-365 - 90, 1) },
      'ran out': { createdAt: at(-365 - 90) },
      'withdrawn lately': { createdAt: at(-400), withdrawnAt: at(-90, 1) },
      withdrawn: { createdAt: at(-100), withdrawnAt: at(-90) },
      'withdrawn long ago': { createdAt: at(-100), withdrawnAt: at(-95) },
    })
    const keep = { keepDays: 90 }
    expect(await removeOldConsents(db, NOW, { ...keep, limit: 1 })).toBe(1)
    expect(await db.consent.count({ where: { id: 'withdrawn long ago' } })).toBe(0)
    expect(await removeOldConsents(db, NOW, keep)).toBe(2)
    expect(await removeOldConsents(db, NOW, keep)).toBe(0)
    expect(await left()).toEqual(['in force', 'ran out lately', 'withdrawn lately'])
  })

  it('consents that a replay has ended are removed after 30 days at least, or with the others', async () => {
    const replayed = (replayedAt: Date) => ({ createdAt: at(-200), withdrawnAt: replayedAt, replayedAt })
    const { db, left } = await startConsents({
      shown: replayed(at(-30, 1)),
      'no longer shown': replayed(at(-30)),
      lately: replayed(at(-90, 1)),
      replayed: replayed(at(-90)),
    })
    expect(await removeOldConsents(db, NOW, { keepDays: 90 })).toBe(1)
    expect(await left()).toEqual(['lately', 'no longer shown', 'shown'])
    expect(await removeOldConsents(db, NOW, { keepDays: 1, limit: 1 })).toBe(1)
    expect(await removeOldConsents(db, NOW, { keepDays: 1 })).toBe(1)
    expect(await removeOldConsents(db, NOW, { keepDays: 1 })).toBe(0)
    expect(await left()).toEqual(['shown'])
  })

  it('ended subscriptions are removed when their last delivery is gone, and active ones stay', async () => {
    const { db, subscribe, publish } = await startQueue()
    const [active, lately, ended, withDelivery] = await Promise.all([1, 2, 3, 4].map(() => subscribe()))
    const end = (id: string, endedAt: Date) => db.subscription.update({ where: { id }, data: { endedAt } })
    await end(lately!, at(-30, 1))
    await end(ended!, at(-30))
    await end(withDelivery!, at(-60))
    const [delivery] = await publish(withDelivery!, { at: NOW - 31 * DAY_MS })
    const left = async () => (await db.subscription.findMany({ select: { id: true } })).map(({ id }) => id).toSorted()
    const keep = { keepDays: 30 }
    expect(await removeEndedSubscriptions(db, NOW, keep)).toBe(1)
    expect(await left()).toEqual([active!, lately!, withDelivery!].toSorted())
    await db.delivery.delete({ where: { id: delivery! } })
    expect(await removeEndedSubscriptions(db, NOW, keep)).toBe(1)
    expect(await removeEndedSubscriptions(db, NOW, keep)).toBe(0)
    expect(await left()).toEqual([active!, lately!].toSorted())
  })

  it('former secrets are cleared once they no longer sign, and present ones stay', async () => {
    const { db, app, subscribe } = await startQueue()
    const [signing, over] = [await subscribe(null, 'a'), await subscribe(null, 'b')]
    const former = (formerUntil: Date) => ({ formerSecret: 'encrypted', formerUntil })
    await db.app.update({ where: { id: app }, data: former(at(0)) })
    await db.subscription.update({ where: { id: signing }, data: former(at(0, 1)) })
    await db.subscription.update({ where: { id: over }, data: former(at(0)) })
    expect(await clearExpiredSecrets(db, NOW, 1)).toBe(1)
    expect(await clearExpiredSecrets(db, NOW, 1)).toBe(1)
    expect(await clearExpiredSecrets(db, NOW)).toBe(0)
    const select = { secret: true, formerSecret: true, formerUntil: true }
    const rows = await Promise.all([signing, over].map((id) => db.subscription.findUnique({ where: { id }, select })))
    const secret = expect.any(String)
    expect(rows).toEqual([
      { secret, ...former(at(0, 1)) },
      { secret, formerSecret: null, formerUntil: null },
    ])
    expect(await db.app.findUnique({ where: { id: app } })).toMatchObject({ formerSecret: null, formerUntil: null })
  })

  it('invitations that can no longer be accepted are removed, and audit entries after two years', async () => {
    const { db } = await startQueue()
    const { team: teamId } = await createTenant(db)
    const invitation = (id: string, expiresAt: Date) => ({
      id: `${id} ${teamId}`,
      teamId,
      email: 'a@example.org',
      role: 'owner' as const,
      expiresAt,
    })
    await db.teamInvitation.createMany({ data: [invitation('open', at(0, 1)), invitation('over', at(0))] })
    await db.auditEntry.createMany({
      data: [at(-730, 1), at(-730)].map((time) => ({ teamId, action: 'a', target: 't', at: time })),
    })
    expect([await removeOldInvitations(db, NOW), await removeOldAuditEntries(db, NOW)]).toEqual([1, 1])
    expect(await db.teamInvitation.findMany({ where: { teamId } })).toMatchObject([{ id: `open ${teamId}` }])
    expect(await db.auditEntry.findMany({ where: { teamId } })).toMatchObject([{ at: at(-730, 1) }])
  })

  it('refused requests for teams are removed after 90 days, pending ones never', async () => {
    const { db } = await startQueue()
    const rows = [at(-90, 1), at(-90), null].map((refusedAt, i) => ({ id: `${randomUUID()}${i}`, refusedAt }))
    for (const { id, refusedAt } of rows) {
      await db.person.create({ data: { id, firstName: 'Jo', lastName: 'Sea', email: `${id}@example.org` } })
      const refused = refusedAt && { state: 'refused' as const, reason: 'No.', refusedAt }
      await db.teamRequest.create({
        data: {
          id,
          personId: id,
          name: 'N',
          purpose: 'P',
          requestedAt: at(-400),
          ...(refused ?? { state: 'requested' }),
        },
      })
    }
    expect(await removeRefusedTeams(db, NOW)).toBe(1)
    const left = await db.teamRequest.findMany({ where: { id: { in: rows.map(({ id }) => id) } } })
    expect(left.map(({ id }) => id).sort()).toEqual([rows[0]!.id, rows[2]!.id].sort())
  })

  it('mails are removed after three days, sent or not', async () => {
    const { db } = await startQueue()
    const { team: teamId } = await createTenant(db)
    const mail = (id: string, createdAt: Date) => ({
      id: `${id} ${teamId}`,
      kind: 'invitation' as const,
      teamId,
      email: 'a@example.org',
      invitationId: 'i',
      language: 'en' as const,
      about: { name: '' },
      createdAt,
      nextAt: at(0),
    })
    await db.mail.createMany({ data: [mail('young', at(-3, 1)), mail('old', at(-3))] })
    expect([await removeOldMails(db, NOW), await removeOldMails(db, NOW)]).toEqual([1, 0])
    expect(await db.mail.findMany({ where: { teamId } })).toMatchObject([{ id: `young ${teamId}` }])
  })

  it('records of sign-in without an end are removed by that of their content, or a year after they began', async () => {
    const { db } = await startQueue()
    const seconds = (date: Date) => date.getTime() / 1000
    const record = (id: string, payload: object, expiresAt: Date | null = null) => ({
      model: 'Grant',
      id,
      payload,
      expiresAt,
    })
    await db.oauthRecord.createMany({
      data: [
        record('ends later', { iat: seconds(at(-1)), exp: seconds(at(1)) }),
        record('has ended', { iat: seconds(at(-2)), exp: seconds(at(-1)) }),
        record('began lately', { iat: seconds(at(-364)) }),
        record('began over a year ago', { iat: seconds(at(-366)) }),
        record('says nothing', { exp: 'soon' }),
        record('says nonsense', { exp: 1e300 }),
        record('ends now', {}, at(0)),
        record('ends soon', {}, at(0, 1)),
      ],
    })
    expect(await deleteExpiredRecords(db, NOW, 3)).toBe(3)
    expect(await deleteExpiredRecords(db, NOW, 3)).toBe(1)
    expect(await deleteExpiredRecords(db, NOW, 3)).toBe(0)
    const left = await db.oauthRecord.findMany({ where: { model: 'Grant' }, orderBy: { id: 'asc' } })
    expect(left.map(({ id }) => id)).toEqual(['began lately', 'ends later', 'ends soon', 'says nonsense'])
    expect(left.map(({ expiresAt }) => expiresAt?.getTime())).toEqual([
      ...[at(1), at(1), at(0, 1)].map((date) => date.getTime()),
      Date.parse('9999-12-31T23:59:59Z'),
    ])
  })

  it('rows are removed once by several processes at a time, and one that is being changed is left', async () => {
    const { db } = await startQueue()
    const data = Array.from({ length: 2_000 }, (_, n) => ({
      model: 'Code',
      id: `${n}`,
      payload: {},
      expiresAt: at(-1, n),
    }))
    await db.oauthRecord.createMany({ data })
    const renew = async (tx: Pick<typeof db, '$executeRaw'>) =>
      tx.$executeRaw`UPDATE "OauthRecord" SET "expiresAt" = ${at(1)} WHERE model = 'Code' AND id = '7'`
    await db.$transaction(async (tx) => {
      await renew(tx)
      const removed = await Promise.all([1, 2, 3, 4].map(() => deleteExpiredRecords(db, NOW, 1_000)))
      const rest = await deleteExpiredRecords(db, NOW, 1_000)
      expect([...removed, rest].reduce((sum, rows) => sum + rows, 0)).toBe(1_999)
    })
    expect(await deleteExpiredRecords(db, NOW)).toBe(0)
    expect(await db.oauthRecord.findMany({ where: { model: 'Code' }, select: { id: true } })).toEqual([{ id: '7' }])
  })
})
