import { ask } from '../support/ask.ts'

interface Stored {
  entries: { appId: string; clubId: string; owner: string }[]
  counters: Record<string, number>
}

/** Adds entries of two apps and two clubs to the demo data; returns a reader of the storage. */
export async function addEntries(url: string): Promise<() => Promise<Stored>> {
  await ask(
    url,
    `INSERT INTO "StorageEntry"
       SELECT app, club, coalesce(member, ''), 'c', key, member, value, gen_random_uuid(), now() FROM (VALUES
         ('trainer-app', 'riverside', NULL, 'a', '"€"'), ('trainer-app', 'riverside', NULL, 'b', '1234'),
         ('trainer-app', 'riverside', 'anna', 'a', '1234567890'), ('trainer-app', 'riverside', 'anna', 'b', '1234567890'),
         ('trainer-app', 'riverside', 'cara', 'a', '1234567890'),
         ('hobby-app', 'riverside', 'anna', 'a', '123'), ('trainer-app', 'northgate', NULL, 'a', '1234')
       ) entry (app, club, member, key, value)`,
  )
  return async () => {
    const entries = await ask(url, 'SELECT * FROM "StorageEntry" ORDER BY 1, 2, 3, 4, 5')
    const rows = await ask(url, 'SELECT * FROM "StorageUsage" WHERE bytes <> 0')
    return {
      entries,
      counters: Object.fromEntries(rows.map(({ appId, clubId, bytes }) => [`${appId} ${clubId}`, Number(bytes)])),
    }
  }
}
