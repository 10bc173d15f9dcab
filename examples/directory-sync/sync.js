// Synchronises the service with the platform's database, by polling the column "updatedAt" of its tables.
import { readFile, rename, writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'member-apps-client'
import pg from 'pg'

const { SOURCE_URL, TOKEN_URL, CLIENT_ID, CLIENT_SECRET, ORGANISATION } = process.env
const { TRPC_URL = 'http://localhost:3001/trpc', STATE_FILE = 'sync.json', SECONDS = '10' } = process.env
if (!SOURCE_URL || !TOKEN_URL || !CLIENT_ID || !CLIENT_SECRET || !ORGANISATION)
  throw new Error('Set SOURCE_URL, TOKEN_URL, CLIENT_ID, CLIENT_SECRET and ORGANISATION.')

// The kinds in the order of their dependencies, and how their records are read from the platform's tables. A row with "removed"
// is ended, by its key.
const recordTypes = {
  organisations: `SELECT id, 'club' AS kind, name, "updatedAt", id AS key, false AS removed FROM clubs`,
  people: `SELECT id, "firstName", "lastName", email, birthday, "updatedAt", id AS key, false AS removed FROM members`,
  memberships: `SELECT club AS organisation, member AS person, joined AS "joinedAt", resigned AS "leftAt", "updatedAt",
    club || ' ' || member AS key, false AS removed FROM club_members`,
  events: `SELECT id, club, title, starts AS start, ends AS end, place AS location, 'published' AS state, "updatedAt",
    id AS key, cancelled AS removed FROM trainings`,
}
// A transaction may commit after others that wrote later. Rows that are read again are unchanged in the service.
const LONGEST_TRANSACTION = '60 seconds'

const print = (line) => process.stdout.write(`${new Date().toISOString()} ${line}\n`)
const source = new pg.Pool({ connectionString: SOURCE_URL, max: 1, options: '-c timezone=UTC' })
source.on('error', ({ message }) => print(message))

async function token() {
  const authorization = `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}`
  const scope = 'directory:write'
  const body = new URLSearchParams({ grant_type: 'client_credentials', organisation: ORGANISATION, scope })
  const answer = await fetch(TOKEN_URL, { method: 'POST', headers: { authorization }, body })
  if (!answer.ok) throw new Error(`No token: ${answer.status} ${await answer.text()}`)
  return (await answer.json()).access_token
}
const { directory } = createClient({ url: TRPC_URL, token })

/** Sends the changes since a time, in portions; returns the time of the last change, or undefined. */
async function sync(recordType, since) {
  let last
  for (;;) {
    // Its version lets the service drop a record that arrives after a newer one.
    const { rows } = await source.query(
      `SELECT "updatedAt"::text AS at, key, removed, to_jsonb(r) - '{updatedAt,key,removed}'::text[] ||
         jsonb_build_object('version', (extract(epoch FROM "updatedAt") * 1000000)::bigint) AS record
       FROM (${recordTypes[recordType]}) r WHERE ("updatedAt", key) > ($1::timestamptz, $2) ORDER BY "updatedAt", key LIMIT 1000`,
      [last?.at ?? since, last?.key ?? ''],
    )
    if (rows.length === 0) return last?.at
    const items = rows.filter(({ removed }) => !removed).map(({ record }) => record)
    const ids = rows.filter(({ removed }) => removed).map(({ key }) => key)
    const { added, changed } =
      items.length > 0 ? await directory[recordType].upsert.mutate({ items }) : { added: 0, changed: 0 }
    const { ended } = ids.length > 0 ? await directory[recordType].end.mutate({ ids }) : { ended: 0 }
    if (added + changed + ended > 0) print(`${recordType}: ${added} added, ${changed} changed, ${ended} ended`)
    last = rows.at(-1)
  }
}

const state = JSON.parse(await readFile(STATE_FILE, 'utf8').catch(() => '{}'))
for (;;) {
  try {
    for (const recordType of Object.keys(recordTypes)) {
      const { rows } = await source.query('SELECT ($1::timestamptz - $2::interval)::text AS since', [
        ...[state[recordType] ?? '-infinity', LONGEST_TRANSACTION],
      ])
      state[recordType] = (await sync(recordType, rows[0].since)) ?? state[recordType]
    }
    await writeFile(`${STATE_FILE}.new`, JSON.stringify(state))
    await rename(`${STATE_FILE}.new`, STATE_FILE)
  } catch (error) {
    // The service or the database is unavailable, or a record is refused: the next round starts from there.
    print(error.message)
  }
  await pause(Number(SECONDS) * 1000)
}
