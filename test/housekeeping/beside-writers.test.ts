import { expect, it, onTestFinished } from 'vitest'
import type { Task } from '../../routers/kernel/housekeeping.ts'
import { openHousekeeping } from '../../routers/kernel/housekeeping.ts'
import { housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { createStorage, mintTenants, testCore } from '../storage/tenants.ts'
import { migratedDatabase } from '../support/databases.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { openTestDatabase } from '../support/test-database.ts'

const MINUTE_MS = 60_000
/** In each of them a record ends. */
const MINUTES = 100
/** One that finds something to do, and one that finds nothing. */
const STEPS = 2

it('a sweep of each task ends beside a writer, and the next one does what became due meanwhile', async () => {
  const db = openTestDatabase(await migratedDatabase())
  onTestFinished(() => db.$disconnect())
  const storage = createStorage(testCore(db), await mintTenants(db), 0, 0, 0)
  let now = Date.now()
  const ends = Array.from({ length: MINUTES }, (_, minute) => new Date(now + minute * MINUTE_MS))
  await db.oauthRecord.createMany({
    data: ends.map((expiresAt, n) => ({ model: 'Session', id: String(n), payload: {}, expiresAt })),
  })
  await db.loginCode.createMany({
    data: ends.map((expiresAt, n) => ({
      interaction: String(n),
      email: 'jo@example.org',
      hash: 'h',
      sender: 's',
      sentAt: expiresAt,
      expiresAt,
    })),
  })
  let isWriting = true
  /** Between two steps a minute passes, and an entry is written twice. */
  const write = async () => {
    if (!isWriting) return
    now += MINUTE_MS
    for (const value of [1, 2]) await storage.put({ collection: 'c', key: 'k', value })
  }
  const steps: Record<string, number> = {}
  const beside = ({ step, ...task }: Task): Task => ({
    ...task,
    async step(...values) {
      steps[task.name] = (steps[task.name] ?? 0) + 1
      if (steps[task.name]! > MINUTES) return 0
      const rows = await step(...values)
      await write()
      return rows
    },
  })
  const cipher = createCipher([Buffer.from(SECRETS_KEY, 'base64')])
  const tasks = housekeepingTasks({ keepDays: { events: 30, consents: 30 }, signingKeyDays: 90 }, cipher, async () => 0)
  const { clean } = openHousekeeping({ db, tasks: tasks.map(beside), now: () => now })
  await write()
  // So that codes end as well, an hour after they were sent.
  now += 61 * MINUTE_MS
  await clean()
  expect(Object.keys(steps)).toEqual(tasks.map(({ name }) => name))
  expect(Object.entries(steps).filter(([, count]) => count > STEPS)).toEqual([])

  isWriting = false
  now += 3 * MINUTES * MINUTE_MS
  await clean()
  expect([await db.oauthRecord.count(), await db.loginCode.count(), await db.storageChange.count()]).toEqual([0, 0, 1])
})
