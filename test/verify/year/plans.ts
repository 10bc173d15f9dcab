import type { Scan } from '../../support/plan-proxy.ts'
import type { Year } from './run.ts'

/** As in rows/plans.test.ts. */
const MAX_ROWS = 1_000

/** What reads a table as a whole, by a part of its statement: nothing that a member or an app waits for. */
const READS_MORE = [
  // Housekeeping, hourly: at most one look at each store.
  'FROM "StorageUsage" WHERE changes > thinned',
  'FROM "StorageCollection"\n    WHERE bytes IS NULL',
  'FROM "StorageChange" WHERE at <= ',
  // The erasure of a person: what names them in requests for tokens, in events, and in the shared entries of their clubs.
  'FROM "OauthRecord" WHERE (model, id) > ',
  'FROM "PublishedEvent"\n    WHERE ("publishedAt", "appId", id) > ',
  'UPDATE "StorageEntry" entry SET\n    "createdBy" = CASE',
  // Store by store or, while the table is small beside the 200 stores of a club, at once.
  'DELETE FROM "StorageChange" change USING "StorageUsage" store',
]

/** The scans that read too many rows, each once. Those of a small table, in a loop, are of no weight. */
export function largeScans({ scans, tables }: Pick<Year, 'scans' | 'tables'>): string[] {
  const isLarge = ({ table, rows, statement }: Scan) =>
    rows > MAX_ROWS && tables.get(table)!.last.rows > MAX_ROWS && !READS_MORE.some((part) => statement.includes(part))
  const text = ({ node, table, rows, statement }: Scan) => `${node} of ${table}, ${rows} rows: ${statement}`
  return [...new Set(scans.filter(isLarge).map(text))]
}
