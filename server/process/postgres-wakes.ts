import type { Database } from '../../prisma/client.ts'
import { MAX_NOTIFICATION_BYTES, openNotifications } from '../../prisma/pg/notifications.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Store, StoreWatch } from '../../routers/kernel/store-watch.ts'
import { openWakes, storeChanged } from './wakes.ts'

const CHANNEL = 'member_apps_changed'

/** A cast, as the function returns void. */
const notify = statement('notify', 'SELECT pg_notify($1, $2)::text AS sent', { sent: text })

/** Reports the change of a command. Nodes with a Redis notice it within a second. */
export const announceChange = (db: Database, store: Store) => db.execute(notify, [CHANNEL, storeChanged(store)])

/**
 * Wakes what waits on other nodes, by NOTIFY in place of Redis. Where no notification arrives, nodes notice within a second, by their
 * own looks.
 */
export function openPostgresWakes(db: Database, url: string, watches: Readonly<Record<string, StoreWatch>>) {
  const wakes = openWakes(watches, (text) => notifications.notify(text), MAX_NOTIFICATION_BYTES)
  const notifications = openNotifications({
    url,
    channel: CHANNEL,
    probe: (channel, text) => db.execute(notify, [channel, text]),
    received: (text) => void wakes.receive(text),
    working(isWorking) {
      for (const watch of Object.values(watches)) watch.isNotified = isWorking
    },
  })
  return {
    async close() {
      wakes.close()
      await notifications.close()
    },
  }
}
