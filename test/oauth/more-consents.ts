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
