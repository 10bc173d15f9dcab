import type { Database } from '../../prisma/client.ts'
import { MAX_NOTIFICATION_BYTES, openNotifications } from '../../prisma/pg/notifications.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Watches } from './wakes.ts'
import { openWakes } from './wakes.ts'

const CHANNEL = 'member_apps_changed'

/** A hundred transactions a second at most. At 20 ms, a stream of another node gets a change of a busy store after 12 ms. */
const GATHER_MS = 10

/** Nodes answer a hello within GATHER_MS; a node that another has not heard is found by its look within 5 s. */
const ANSWER_MS = 2_000

/** A cast, as the function returns void. */
const notify = statement(
  'notify',
  'SELECT pg_notify($channel, $message)::text AS sent',
  { channel: text, message: text },
  { sent: text },
)

/** Sends one message, for a process that does not stay. */
export const sendByPostgres = (db: Database, message: string) => db.execute(notify, { channel: CHANNEL, message })

/**
 * Wakes what waits in other processes, by NOTIFY in place of Redis. Where no notification arrives, they notice within a second, by
 * their own looks. A node alone on its database sends nothing: its own notifications were 10 us of the 220 of a storage PUT.
 */
export function openPostgresWakes(db: Database, url: string, watches: Watches) {
  const send = (text: string) => notifications.notify(text)
  const wakes = openWakes(watches, { send, gatherMs: GATHER_MS, answerMs: ANSWER_MS, maxBytes: MAX_NOTIFICATION_BYTES })
  const notifications = openNotifications({
    url,
    channel: CHANNEL,
    hello: wakes.hello,
    probe: (channel, text) => db.execute(notify, { channel, message: text }),
    received: (text) => void wakes.receive(text),
    working: wakes.working,
  })
  return {
    async close() {
      await wakes.close()
      await notifications.close()
    },
  }
}
