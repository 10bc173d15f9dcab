import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { StoreWatch } from '../../routers/kernel/store-watch.ts'
import { page } from './replica.ts'
import type { Tenants } from './tenants.ts'
import { coreOf, mintTenants, openWith, storageOf } from './tenants.ts'

const db = openWith({})
afterAll(() => db.$disconnect())

let tenants: Tenants
beforeEach(async () => {
  tenants = await mintTenants(db)
})

const store = () => ({ app: tenants.apps[0], club: tenants.clubs[0] })
/** A write that does not pass the watch, as one of another node. */
const put = () => storageOf(coreOf(db), tenants, 0, 0, 0).put({ collection: 'c', key: 'k', value: 1 })
const last = async () => (await page(db, { ...store(), owner: '', collection: 'c' })).next.number
/** Longer than any test: it does not look. */
const idle = () => new StoreWatch(db, 3_600_000)

describe('a listener of a store', () => {
  it('is woken by a write of this process', async () => {
    const watch = idle()
    const listener = watch.listen(store())
    listener.reset()
    const moved = listener.moved()
    watch.wake({ ...store(), club: tenants.clubs[1] })
    watch.wake(store())
    await moved
    listener.close()
  })

  it('is woken although one before it was closed twice', async () => {
    const watch = idle()
    const former = watch.listen(store())
    former.close()
    const listener = watch.listen(store())
    former.close()
    watch.wake(store())
    await listener.moved()
    listener.close()
    expect(watch.size).toBe(0)
  })

  it('is woken by a write after reset, before it waits', async () => {
    const watch = idle()
    const listener = watch.listen(store())
    listener.reset()
    watch.wake(store())
    await listener.moved()
    listener.close()
  })

  it('is woken by what others have written since the number that it has seen', async () => {
    await put()
    const seen = await last()
    const watch = new StoreWatch(db, 20)
    const listener = watch.listen(store())
    listener.seen = seen
    listener.reset()
    const moved = listener.moved()
    await put()
    await moved
    expect(await last()).toBeGreaterThan(seen)
    listener.close()
  })

  it('sleeps while nothing has changed, until it is woken', async () => {
    await put()
    const watch = new StoreWatch(db, 5)
    const listener = watch.listen(store())
    listener.seen = await last()
    listener.reset()
    let isAwake = false
    const moved = listener.moved().then(() => {
      isAwake = true
    })
    // Another store's listener is woken by a later look.
    const other = watch.listen({ ...store(), app: tenants.apps[1] })
    other.reset()
    await storageOf(coreOf(db), tenants, 1, 0, 0).put({ collection: 'c', key: 'k', value: 1 })
    await other.moved()
    expect(isAwake).toBe(false)
    listener.wake()
    await moved
    listener.close()
    other.close()
    expect(watch.size).toBe(0)
  })

  it('is woken later by a write while the database was away', async () => {
    let looks = 0
    const flaky = new Proxy(db, {
      get: (target, name) => {
        if (name !== 'execute') return Reflect.get(target, name)
        return (...given: Parameters<typeof db.execute>) =>
          ++looks === 1 ? Promise.reject(new Error('away')) : db.execute(...given)
      },
    })
    const watch = new StoreWatch(flaky, 5)
    const listener = watch.listen(store())
    listener.reset()
    await put()
    await listener.moved()
    expect(looks).toBeGreaterThan(1)
    listener.close()
  })
})
