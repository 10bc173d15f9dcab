import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { Tenants } from './tenants.ts'
import { coreOf, mintTenants, openWith, storageOf } from './tenants.ts'

const db = openWith({})
afterAll(() => db.$disconnect())

let tenants: Tenants
beforeEach(async () => {
  tenants = await mintTenants(db)
})

const put = (person: 0 | 1, value: number, scope: 'org' | 'user' = 'org') =>
  storageOf(coreOf(db), tenants, 0, 0, person).put({ collection: 'c', key: 'k', scope, value })

async function row(owner = '') {
  const { apps, clubs } = tenants
  const address = { appId: apps[0], clubId: clubs[0], owner, collection: 'c', key: 'k' }
  const { createdBy, updatedBy, version } = await db.storageEntry.findUniqueOrThrow({ where: { address } })
  return { createdBy, updatedBy, version }
}
const writers = async () => {
  const { version: _, ...both } = await row()
  return both
}
const membership = (person: 0 | 1) => ({
  where: { of: { organisationId: tenants.clubs[0], personId: tenants.people[person] } },
})

describe('a shared entry', () => {
  it('names the member who made it, and the one who wrote last', async () => {
    const [first, second] = tenants.people
    await put(0, 1)
    expect(await writers()).toEqual({ createdBy: first, updatedBy: first })
    await put(1, 2)
    expect(await writers()).toEqual({ createdBy: first, updatedBy: second })
    await put(1, 3)
    expect(await writers()).toEqual({ createdBy: first, updatedBy: second })
  })

  it('names nobody once both memberships are removed, and keeps its version', async () => {
    const second = tenants.people[1]
    await put(0, 1)
    await put(1, 2)
    const { version } = await row()
    await db.membership.delete(membership(0))
    expect(await row()).toEqual({ createdBy: null, updatedBy: second, version })
    await db.person.delete({ where: { id: second } })
    expect(await row()).toEqual({ createdBy: null, updatedBy: null, version })
  })

  it('names nobody whose membership has got another member', async () => {
    await put(0, 1)
    const newcomer = `newcomer-${randomUUID()}`
    await db.person.create({ data: { id: newcomer, firstName: 'N', lastName: 'N', email: '' } })
    await db.membership.update({ ...membership(0), data: { personId: newcomer } })
    expect(await writers()).toEqual({ createdBy: null, updatedBy: null })
  })

  it('does not name a member whose membership was removed before the write', async () => {
    await put(0, 1)
    await db.membership.delete(membership(1))
    const { apps, clubs, people } = tenants
    await db.$executeRaw`SELECT FROM storage_write(${apps[0]}, ${clubs[0]}, '', 'c', 'k', '2', gen_random_uuid(), now(),
      1000, null, null, ${people[1]}, false)`
    expect(await writers()).toEqual({ createdBy: people[0], updatedBy: null })
  })

  it('does not say who wrote last after a change by hand, or by somebody who is no member', async () => {
    const [first] = tenants.people
    const { apps, clubs } = tenants
    const changes = [
      () => db.storageEntry.updateMany({ where: { appId: apps[0] }, data: { value: '2', updatedBy: first } }),
      () => db.$executeRaw`SELECT FROM storage_write(${apps[0]}, ${clubs[0]}, '', 'c', 'k', '3', gen_random_uuid(), now(),
        1000, null, null, null, false)`,
    ]
    for (const change of changes) {
      await put(0, 1)
      await change()
      expect(await writers()).toEqual({ createdBy: first, updatedBy: null })
    }
  })

  it('keeps the member who made it when a change by hand names another', async () => {
    const [createdBy, other] = tenants.people
    await put(0, 1)
    await db.storageEntry.updateMany({ where: { appId: tenants.apps[0] }, data: { createdBy: other } })
    expect(await writers()).toEqual({ createdBy, updatedBy: null })
  })

  it('names nobody once it is moved to a member by hand', async () => {
    const [owner] = tenants.people
    await put(0, 1)
    await db.storageEntry.updateMany({ where: { appId: tenants.apps[0] }, data: { owner, memberId: owner } })
    expect(await row(owner)).toMatchObject({ createdBy: null, updatedBy: null })
  })

  it('made by hand names nobody, whoever is given', async () => {
    const { apps, clubs, people } = tenants
    const place = { appId: apps[0], clubId: clubs[0], owner: '', collection: 'c', key: 'k' }
    const data = { ...place, value: '1', version: randomUUID(), updatedAt: new Date(), createdBy: people[0] }
    await db.storageEntry.create({ data })
    expect(await writers()).toEqual({ createdBy: null, updatedBy: null })
  })
})

it('a private entry names its owner alone', async () => {
  await put(0, 1, 'user')
  expect(await row(tenants.people[0])).toMatchObject({ createdBy: null, updatedBy: null })
})
