import { describe, expect, it } from 'vitest'
import type { Registration } from '../../routers/developer/shared/registration.ts'
import { clientWithConsents, register, removeClient } from '../../server/admin/clients.ts'
import { id } from '../support/tenant.ts'
import { sharedDatabase } from '../support/world.ts'

const db = sharedDatabase()

const add = { replace: false, development: false }

/** A registration with unused names and an existing provider. */
async function registration(): Promise<Registration> {
  const provider = id('provider')
  await db.organisation.create({ data: { id: provider, kind: 'provider', name: 'Provider' } })
  return {
    id: id('client'),
    name: 'Client',
    type: 'web',
    environment: 'production',
    redirectUris: ['https://app.example.org/', 'https://app.example.org/'],
    scopes: ['svc.me.profile:read'],
    team: { id: id('team'), name: 'Team', level: 'hobby' },
    app: { id: id('app'), name: 'App', provider },
  }
}

describe('registering a client', () => {
  it('twelve times at once creates one client, one team and one app, and refuses the others', async () => {
    const one = await registration()
    const all = await Promise.allSettled(Array.from({ length: 12 }, () => register(db, one, add)))
    const reasons = all.flatMap((each) => (each.status === 'rejected' ? [each.reason.message] : []))
    expect(reasons).toEqual(Array(11).fill(`The client ${one.id} already exists; --replace changes it.`))
    expect(await db.client.findUnique({ where: { id: one.id } })).toMatchObject({
      teamId: one.team.id,
      redirectUris: ['https://app.example.org/'],
    })
  })

  it('of twelve clients with the same new team at once creates them all', async () => {
    const one = await registration()
    const clients = Array.from({ length: 12 }, () => ({ ...one, id: id('client') }))
    await Promise.all(clients.map((client) => register(db, client, add)))
    expect(await db.client.count({ where: { teamId: one.team.id, appId: one.app!.id } })).toBe(12)
  })
})

describe('removing a client', () => {
  it('deletes its consents and everything issued under them, and nothing of another client', async () => {
    const one = await registration()
    const other = { ...one, id: id('client') }
    await register(db, one, add)
    await register(db, other, add)
    const [club, member] = [id('club'), id('member')]
    await db.organisation.create({ data: { id: club, kind: 'club', name: 'Club' } })
    await db.person.create({ data: { id: member, firstName: 'Mia', lastName: 'Member', email: 'mia@example.org' } })
    const grant = async (clientId: string, withdrawnAt: Date | null) => {
      const grantId = id('grant')
      const whose = { personId: member, organisationId: club, clientId, scopes: ['svc.me.profile:read'] }
      await db.consent.create({ data: { id: grantId, ...whose, withdrawnAt } })
      await db.oauthRecord.create({ data: { model: 'RefreshToken', id: id('token'), payload: {}, grantId } })
      await db.oauthRecord.create({ data: { model: 'Grant', id: grantId, payload: { accountId: member } } })
      return grantId
    }
    const gone = [await grant(one.id, null), await grant(one.id, new Date())]
    const stays = await grant(other.id, null)

    expect((await clientWithConsents(db, one.id))?._count.consents).toBe(1)
    expect(await removeClient(db, one.id)).toBe(1)
    expect(await clientWithConsents(db, one.id)).toBeNull()
    expect(await db.consent.count({ where: { id: { in: gone } } })).toBe(0)
    expect(await db.oauthRecord.count({ where: { grantId: { in: gone } } })).toBe(0)
    expect(await db.oauthRecord.count({ where: { id: { in: gone } } })).toBe(0)
    expect(await db.consent.count({ where: { id: stays } })).toBe(1)
    expect(await db.oauthRecord.count({ where: { OR: [{ grantId: stays }, { id: stays }] } })).toBe(2)
    expect(await db.app.count({ where: { id: one.app!.id } })).toBe(1)
    expect(await removeClient(db, one.id)).toBeNull()
  })
})
