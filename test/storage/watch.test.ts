import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { StoreWatch } from '../../routers/kernel/store-watch.ts'
import { erase } from '../../server/admin/storage-owners.ts'
import { page } from './replica.ts'
import { createStorage, openPool, tenantsOfEach, testCore } from './tenants.ts'

const db = openPool({})

const tenants = tenantsOfEach(db)

const store = () => ({ app: tenants.apps[0], club: tenants.clubs[0] })
const place = (collection = 'c') => ({ ...store(), owner: '', collection })
/** A write that does not pass the watch, as one of another node. */
const put = (collection = 'c') => createStorage(testCore(db), tenants, 0, 0, 0).put({ collection, key: 'k', value: 1 })
const last = async () => (await page(db, place())).next.number
const createWatch = (ms: number) => new StoreWatch(db, { notified: ms, alone: ms })
/** Longer than any test: it does not look. */
const idle = () => createWatch(3_600_000)

describe('a listener of a collection', () => {
  it('is woken by a write of this process', async () => {
    const watch = idle()
    const listener = watch.listen(place())
    listener.reset()
    const moved = listener.moved()
    watch.wake({ ...place(), club: tenants.clubs[1] })
    watch.wake(place())
    await moved
    listener.close()
  })

  it('is woken although one before it was closed twice', async () => {
    const watch = idle()
    const former = watch.listen(place())
    former.close()
    const listener = watch.listen(place())
    former.close()
    watch.wake(store())
    await listener.moved()
    listener.close()
    expect(watch.size).toBe(0)
  })

  it('is woken by a change of its whole store, and not by one of another collection or member', async () => {
    const watch = idle()
    const woken: string[] = []
    const note = (name: string) => () => void woken.push(name)
    const [shared, other, own] = [place(), place('d'), { ...place(), owner: 'anna' }].map((at) => watch.listen(at))
    const moved = [
      shared!.moved().then(note('shared')),
      other!.moved().then(note('other')),
      own!.moved().then(note('own')),
    ]
    watch.wake(place('d'))
    await moved[1]
    expect(woken).toEqual(['other'])
    watch.wake(store())
    await Promise.all(moved)
    expect(woken.toSorted()).toEqual(['other', 'own', 'shared'])
    for (const one of [shared, other, own]) one!.close()
  })

  it('is in another round after each change, and in the same one until then', () => {
    const watch = idle()
    const [listener, twin, other] = [watch.listen(place()), watch.listen(place()), watch.listen(place('d'))]
    const before = listener.round
    watch.wake(place('d'))
    expect([listener.round, twin.round]).toEqual([before, before])
    watch.wake(place())
    expect(listener.round).not.toBe(before)
    expect(twin.round).toBe(listener.round)
    for (const one of [listener, twin, other]) one.close()
  })

  it('is woken by a write after reset, before it waits', async () => {
    const watch = idle()
    const listener = watch.listen(place())
    listener.reset()
    watch.wake(store())
    await listener.moved()
    listener.close()
  })

  it('is woken by what others have written since the number that it has seen', async () => {
    await put()
    const seen = await last()
    const watch = createWatch(20)
    const listener = watch.listen(place())
    listener.seen = seen
    listener.reset()
    const moved = listener.moved()
    await put()
    await moved
    expect(await last()).toBeGreaterThan(seen)
    listener.close()
  })

  it('sleeps while another collection of its store changes, and keeps up with the numbers of the store', async () => {
    await put()
    const watch = createWatch(5)
    const listener = watch.listen(place())
    listener.seen = await last()
    listener.reset()
    let isAwake = false
    const moved = listener.moved().then(() => {
      isAwake = true
    })
    await put('d')
    await put('d')
    const number = await last()
    await expect.poll(() => listener.seen).toBe(number)
    expect(isAwake).toBe(false)
    await put()
    await moved
    expect(listener.seen).toBeLessThan(await last())
    listener.close()
  })

  it('is woken when its store is erased', async () => {
    await put()
    const watch = createWatch(5)
    const listener = watch.listen(place())
    listener.seen = await last()
    listener.reset()
    const moved = listener.moved()
    await erase(db, store())
    await moved
    listener.close()
  })

  it('looks at once when other nodes begin or cease to report their changes', async () => {
    await put()
    const watch = idle()
    const listener = watch.listen(place())
    listener.reset()
    watch.isNotified = true
    await listener.moved()
    listener.seen = await last()
    listener.reset()
    await put()
    watch.isNotified = false
    await listener.moved()
    listener.close()
  })

  it('sleeps while nothing has changed, until it is woken', async () => {
    await put()
    const watch = createWatch(5)
    const listener = watch.listen(place())
    listener.seen = await last()
    listener.reset()
    let isAwake = false
    const moved = listener.moved().then(() => {
      isAwake = true
    })
    // Another store's listener is woken by a later look.
    const other = watch.listen({ ...place(), app: tenants.apps[1] })
    other.reset()
    await createStorage(testCore(db), tenants, 1, 0, 0).put({ collection: 'c', key: 'k', value: 1 })
    await other.moved()
    expect(isAwake).toBe(false)
    listener.wake()
    await moved
    listener.close()
    other.close()
    expect(watch.size).toBe(0)
  })

  it('is woken later by a write while the database was away', async () => {
    let polls = 0
    const flaky = new Proxy(db, {
      get: (target, name) => {
        if (name !== 'execute') return Reflect.get(target, name)
        return (...given: Parameters<typeof db.execute>) =>
          ++polls === 1 ? Promise.reject(new Error('away')) : db.execute(...given)
      },
    })
    const watch = new StoreWatch(flaky, { notified: 5, alone: 5 })
    const listener = watch.listen(place())
    listener.reset()
    await put()
    await listener.moved()
    expect(polls).toBeGreaterThan(1)
    listener.close()
  })
})

const putAs = (person: 0 | 1, value: number, scope: 'org' | 'user' = 'org') =>
  createStorage(testCore(db), tenants, 0, 0, person).put({ collection: 'c', key: 'k', scope, value })

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
    await putAs(0, 1)
    expect(await writers()).toEqual({ createdBy: first, updatedBy: first })
    await putAs(1, 2)
    expect(await writers()).toEqual({ createdBy: first, updatedBy: second })
    await putAs(1, 3)
    expect(await writers()).toEqual({ createdBy: first, updatedBy: second })
  })

  it('names nobody once both memberships are removed, and keeps its version', async () => {
    const second = tenants.people[1]
    await putAs(0, 1)
    await putAs(1, 2)
    const { version } = await row()
    await db.membership.delete(membership(0))
    expect(await row()).toEqual({ createdBy: null, updatedBy: second, version })
    await db.person.delete({ where: { id: second } })
    expect(await row()).toEqual({ createdBy: null, updatedBy: null, version })
  })

  it('names nobody whose membership has got another member', async () => {
    await putAs(0, 1)
    const newcomer = `newcomer-${randomUUID()}`
    await db.person.create({ data: { id: newcomer, firstName: 'N', lastName: 'N', email: '' } })
    await db.membership.update({ ...membership(0), data: { personId: newcomer } })
    expect(await writers()).toEqual({ createdBy: null, updatedBy: null })
  })

  it('does not name a member whose membership was removed before the write', async () => {
    await putAs(0, 1)
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
      await putAs(0, 1)
      await change()
      expect(await writers()).toEqual({ createdBy: first, updatedBy: null })
    }
  })

  it('keeps the member who made it when a change by hand names another', async () => {
    const [createdBy, other] = tenants.people
    await putAs(0, 1)
    await db.storageEntry.updateMany({ where: { appId: tenants.apps[0] }, data: { createdBy: other } })
    expect(await writers()).toEqual({ createdBy, updatedBy: null })
  })

  it('names nobody once it is moved to a member by hand', async () => {
    const [owner] = tenants.people
    await putAs(0, 1)
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
  await putAs(0, 1, 'user')
  expect(await row(tenants.people[0])).toMatchObject({ createdBy: null, updatedBy: null })
})
