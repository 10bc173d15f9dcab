import { expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { openHousekeeping } from '../../routers/kernel/housekeeping.ts'
import { housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { migratedDatabase } from '../support/databases.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { openTestDatabase } from '../support/test-database.ts'

const OWN = ['execute', 'inTransaction']

it('tasks with nothing to do use no method of Prisma, which would be loaded for them: 55 MB', async () => {
  const database = openTestDatabase(await migratedDatabase())
  onTestFinished(() => database.$disconnect())
  const used: string[] = []
  const db = new Proxy(database, {
    get(target, key: keyof Database & string) {
      if (!OWN.includes(key)) used.push(key)
      return target[key]
    },
  })
  const periods = { keepDays: { events: 30, consents: 30 }, signingKeyDays: 90 }
  const cipher = createCipher([Buffer.from(SECRETS_KEY, 'base64')])
  const tasks = housekeepingTasks(periods, cipher, async () => 0)
  const failures: unknown[] = []
  const { clean } = openHousekeeping({ db, tasks, now: Date.now, failed: (_, error) => failures.push(error) })
  expect((await clean()).size).toBe(tasks.length)
  expect({ used, failures }).toEqual({ used: [], failures: [] })
})
