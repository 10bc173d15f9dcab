import { expect, it } from 'vitest'
import { removeEnded } from '../../routers/developer/deletion/remove-ended.ts'
import { storeDocumentClient } from '../../server/oauth/consents/document-clients.ts'
import { endUnusedHosts } from '../../server/oauth/consents/unused-hosts.ts'
import { createTenant } from '../support/tenant.ts'
import { startQueue } from '../webhooks/queue-world.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-11-22T12:00:00Z')
const YEAR_AGO = new Date(NOW - 366 * DAY_MS)

it('hosts of metadata documents that nobody allows end in 30 days, but for those about which somebody has decided', async () => {
  const { db } = await startQueue()
  const { member: personId, club: organisationId, team, provider: providerId } = await createTenant(db)
  const add = async (host: string) => {
    await storeDocumentClient(db, { id: `https://${host}/client.json`, name: 'Tool', scopes: [] })
    return { id: `https://${host}`, clientId: `https://${host}/client.json` }
  }
  const consent = async (host: string, more: { createdAt?: Date; withdrawnAt?: Date } = {}) => {
    const { clientId } = await add(host)
    const of = { personId, organisationId, clientId, scopes: [], createdAt: new Date(NOW) }
    await db.consent.create({ data: { id: host, ...of, ...more } })
  }
  const registered = { id: 'registered', name: 'Registered' }
  await db.team.create({ data: { ...registered, level: 'hobby' } })
  await db.app.create({ data: { ...registered, teamId: registered.id, providerId } })
  await add('never.example')
  await consent('withdrawn.example', { withdrawnAt: new Date(NOW) })
  await consent('expired.example', { createdAt: YEAR_AGO })
  await consent('used.example')
  const decided = { decidedAt: new Date(NOW), decidedBy: personId }
  const { id: refused } = await add('refused.example')
  await db.clubApproval.create({
    data: { organisationId, appId: refused, state: 'refused', reason: 'No.', ...decided },
  })
  const { id: appId } = await add('asked.example')
  const request = { state: 'requested' as const, scopes: ['svc.me.profile:read'], requestedAt: new Date(NOW) }
  await db.childRequest.create({ data: { childId: personId, organisationId, appId, ...request } })
  const { id: suspended } = await add('suspended.example')
  await db.app.update({ where: { id: suspended }, data: { state: 'suspended' }, select: { id: true } })

  expect(await endUnusedHosts(db, NOW, 2)).toBe(2)
  expect(await endUnusedHosts(db, NOW, 2)).toBe(1)
  expect(await endUnusedHosts(db, NOW, 2)).toBe(0)
  await consent('never.example')
  const ended = { id: { startsWith: 'https://' }, endsAt: { not: null } }
  const teams = await db.team.findMany({ where: ended, orderBy: { id: 'asc' } })
  expect(teams.map(({ name, endsAt }) => [name, endsAt!.getTime()])).toEqual([
    ['expired.example', NOW + 30 * DAY_MS],
    ['withdrawn.example', NOW + 30 * DAY_MS],
  ])
  while ((await removeEnded(db, NOW + 30 * DAY_MS)) > 0);
  const left = await db.client.findMany({ where: { id: { startsWith: 'https://' } }, orderBy: { id: 'asc' } })
  const hosts = ['asked', 'never', 'refused', 'suspended', 'used'].map((name) => `https://${name}.example`)
  expect(left.map(({ teamId }) => teamId)).toEqual(hosts)
  expect(await db.team.count({ where: { id: { in: [team, registered.id] }, endsAt: null } })).toBe(2)
})
