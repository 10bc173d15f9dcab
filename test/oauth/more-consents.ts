import type { Database } from '../../prisma/client.ts'

/** Stores copies of a consent, with their grants, each given a second after the one before. */
export async function addCopies(db: Database, consent: string, count: number): Promise<void> {
  await db.$executeRaw`
    INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes, "createdAt", basis)
      SELECT id || '-' || n, "personId", "organisationId", "clientId", scopes,
        CASE WHEN basis IS NULL THEN "createdAt" + make_interval(secs => n) ELSE "createdAt" END, basis
      FROM "Consent" CROSS JOIN generate_series(1, ${count}::int) n WHERE id = ${consent}`
  await db.$executeRaw`
    INSERT INTO "OauthRecord" (model, id, payload, "expiresAt")
      SELECT model, id || '-' || n, payload || jsonb_build_object('iat', (payload ->> 'iat')::int8 + n), "expiresAt"
      FROM "OauthRecord" CROSS JOIN generate_series(1, ${count}::int) n WHERE model = 'Grant' AND id = ${consent}`
}

/** Meanwhile a statement that removes or changes more than `most` copies of a consent, or their records, fails. */
export async function refusingMore<T>(db: Database, consent: string, most: number, work: () => Promise<T>): Promise<T> {
  const name = `refuse_more_${consent.replace(/\W/g, '_')}`
  const sql = (text: string) => db.$executeRawUnsafe(text)
  for (const [table, column] of [
    ['Consent', 'id'],
    ['OauthRecord', '"grantId"'],
  ]) {
    const own = `${name}_${table!.toLowerCase()}`
    await sql(`CREATE FUNCTION ${own}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM gone WHERE starts_with(${column}, '${consent}')) > ${most} THEN RAISE 'more than a portion'; END IF;
      RETURN NULL; END $$`)
    for (const event of ['DELETE', 'UPDATE'])
      await sql(`CREATE TRIGGER ${own}_${event.toLowerCase()} AFTER ${event} ON "${table}" REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION ${own}()`)
  }
  try {
    return await work()
  } finally {
    for (const table of ['consent', 'oauthrecord']) await sql(`DROP FUNCTION ${name}_${table} CASCADE`)
  }
}

/** Stores tokens under a consent and its copies. */
export async function addTokens(db: Database, consent: string, each: number): Promise<void> {
  await db.$executeRaw`
    INSERT INTO "OauthRecord" (model, id, payload, "grantId")
      SELECT 'RefreshToken', 'refresh-' || id || '-' || n, '{}', id
      FROM "Consent" CROSS JOIN generate_series(1, ${each}::int) n WHERE starts_with(id, ${consent})`
}
