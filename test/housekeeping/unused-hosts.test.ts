import { expect, it } from 'vitest'
import { removeEnded } from '../../routers/developer/deletion/remove-ended.ts'
import { removeClient } from '../../server/admin/clients.ts'
import { storeDocumentClient } from '../../server/oauth/consents/document-clients.ts'
import { endUnusedHosts } from '../../server/oauth/consents/unused-hosts.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { createTenant } from '../support/tenant.ts'
import { startQueue } from '../webhooks/queue-world.ts'

const DAY_MS = 86_400_000
const NOW = Date.parse('2026-11-22T12:00:00Z')
const YEAR_AGO = new Date(NOW - 366 * DAY_MS)

async function openHosts() {
  const { db } = await startQueue()
  await db.team.deleteMany({ where: { id: { startsWith: 'https://' } } })
  const { member: personId, club: organisationId, ...tenant } = await createTenant(db)
  const add = async (host: string) => {
    const clientId = `https://${host}/client.json`
    await storeDocumentClient(db, { id: clientId, name: 'Tool', scopes: [] })
    return { id: `https://${host}`, clientId }
  }
  const toConsent = (host: string) => {
    const clientId = `https://${host}/client.json`
    return { id: host, personId, organisationId, clientId, scopes: [], createdAt: new Date(NOW) }
  }
  const refuse = (appId: string) =>
    db.clubApproval.create({
      data: { organisationId, appId, state: 'refused', reason: 'No.', decidedAt: new Date(NOW), decidedBy: personId },
    })
  const ask = (appId: string) => {
    const request = { state: 'requested' as const, scopes: ['svc.me.profile:read'], requestedAt: new Date(NOW) }
    return db.childRequest.create({ data: { childId: personId, organisationId, appId, ...request } })
  }
  const suspend = (id: string) => db.app.update({ where: { id }, data: { state: 'suspended' }, select: { id: true } })
  const ending = async () => {
    const ended = { id: { startsWith: 'https://' }, endsAt: { not: null } }
    const teams = await db.team.findMany({ where: ended, orderBy: { id: 'asc' } })
    return teams.map(({ name, endsAt }) => [name, endsAt!.getTime()])
  }
  return { db, ...tenant, add, toConsent, refuse, ask, suspend, ending }
}

it('hosts of metadata documents that nobody allows end in 30 days, but for those about which somebody has decided', async () => {
  const { db, team, provider: providerId, add, toConsent, refuse, ask, suspend, ending } = await openHosts()
  const consent = async (host: string, more: { createdAt?: Date; withdrawnAt?: Date } = {}) => {
    await add(host)
    await db.consent.create({ data: { ...toConsent(host), ...more } })
  }
  const registered = { id: 'registered', name: 'Registered' }
  await db.team.create({ data: { ...registered, level: 'hobby' } })
  await db.app.create({ data: { ...registered, teamId: registered.id, providerId } })
  await add('never.example')
  await consent('withdrawn.example', { withdrawnAt: new Date(NOW) })
  await consent('expired.example', { createdAt: YEAR_AGO })
  await consent('used.example')
  await refuse((await add('refused.example')).id)
  await ask((await add('asked.example')).id)
  await suspend((await add('suspended.example')).id)

  expect(await endUnusedHosts(db, NOW, 2)).toBe(2)
  expect(await endUnusedHosts(db, NOW, 2)).toBe(1)
  expect(await endUnusedHosts(db, NOW, 2)).toBe(0)
  await consent('never.example')
  expect(await ending()).toEqual([
    ['expired.example', NOW + 30 * DAY_MS],
    ['withdrawn.example', NOW + 30 * DAY_MS],
  ])
  while ((await removeEnded(db, NOW + 30 * DAY_MS)) > 0);
  const left = await db.client.findMany({ where: { id: { startsWith: 'https://' } }, orderBy: { id: 'asc' } })
  const hosts = ['asked', 'never', 'refused', 'suspended', 'used'].map((name) => `https://${name}.example`)
  expect(left.map(({ teamId }) => teamId)).toEqual(hosts)
  expect(await db.team.count({ where: { id: { in: [team, registered.id] }, endsAt: null } })).toBe(2)
})

it('hosts that end stay when the operator suspends them, a club or guardian decides, or a consent is stored', async () => {
  const { db, add, toConsent, refuse, ask, suspend, ending } = await openHosts()
  const names = ['asked', 'consented', 'refused', 'removed', 'suspended', 'unused'].map((name) => `${name}.example`)
  for (const name of names) await add(name)
  expect(await endUnusedHosts(db, NOW, 10)).toBe(names.length)
  const end = NOW + 30 * DAY_MS
  expect(await ending()).toEqual(names.map((name) => [name, end]))

  await removeClient(db, 'https://removed.example/client.json')
  await suspend('https://suspended.example')
  await refuse('https://refused.example')
  await ask('https://asked.example')
  await db.consent.create({ data: toConsent('consented.example') })
  expect(await endUnusedHosts(db, NOW + DAY_MS, 10)).toBe(0)
  expect(await ending()).toEqual([['unused.example', end]])
  while ((await removeEnded(db, end)) > 0);
  const suspended = { id: { startsWith: 'https://' }, state: 'suspended' as const }
  expect(await db.app.count({ where: suspended })).toBe(2)
})

it('a host that a member allows while it is found unused does not end', async () => {
  const { db, add, toConsent, ending } = await openHosts()
  await add('allowed.example')
  // The statement waits after its snapshot.
  await db.$executeRaw`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END'`
  await db.$executeRaw`CREATE TRIGGER wait_for_test AFTER UPDATE ON "Team" FOR EACH ROW EXECUTE FUNCTION wait_for_test()`
  try {
    await meanwhile(
      db,
      (tx) => tx.$queryRaw`SELECT FROM pg_advisory_xact_lock(7)`,
      () => endUnusedHosts(db, NOW, 10),
      { goOn: (tx) => tx.consent.create({ data: toConsent('allowed.example') }) },
    )
  } finally {
    await db.$executeRaw`DROP FUNCTION wait_for_test CASCADE`
  }
  expect(await ending()).toEqual([])
})
