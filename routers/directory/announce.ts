import type { ClientBase } from 'pg'
import { openAnnouncing } from '../webhooks/member-events/announce.ts'
import type { Shown } from './affected-members.ts'
import { shownRecordTypes } from './affected-members.ts'
import type { RecordTypeName } from './record-types.ts'
import type { Layout } from './sql.ts'
import { equal, listed } from './sql.ts'

const listEvents = (shown: readonly Shown[]) => shown.map(({ event }) => event)

const findShown = ({ recordType }: Layout) => shownRecordTypes[recordType.name as RecordTypeName] ?? {}

/** Announces what the end of the records in `ending` changes for members, before they end. */
export async function announceEnd(client: ClientBase, layout: Layout): Promise<void> {
  const { changes = [], endings = changes } = findShown(layout)
  const announce = await openAnnouncing(client, listEvents(endings))
  for (const { event, members } of endings) {
    await announce?.(event, { touched: `SELECT ${listed(layout.keys)} FROM ending`, members })
  }
}

/** Announces what the records in `incoming` change for members: who sees a record may differ before it is written and after it. */
export async function openChanges(client: ClientBase, layout: Layout) {
  const { table, keys, columns } = layout
  const { changes = [], columns: shown = columns.map(({ field }) => field.column) } = findShown(layout)
  const announce = await openAnnouncing(client, listEvents(changes))
  if (!announce) return undefined
  return {
    async before() {
      await client.query(
        `CREATE TEMP TABLE affected ON COMMIT DROP AS SELECT ${listed(keys, 'row')} FROM incoming row JOIN ${table} old
          ON ${equal(keys, 'row', 'old')} WHERE row.changed
            AND (row."listsDiffer" OR (${listed(shown, 'row')}) IS DISTINCT FROM (${listed(shown, 'old')}))`,
      )
      for (const { event, members } of changes) await announce(event, { touched: 'SELECT * FROM affected', members })
    },
    async after() {
      const touched = `SELECT * FROM affected UNION ALL SELECT ${listed(keys)} FROM incoming WHERE NOT was`
      for (const { event, members, fixed } of changes) if (!fixed) await announce(event, { touched, members })
      await client.query('DROP TABLE affected')
    },
  }
}
