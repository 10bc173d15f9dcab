import type { Transaction } from '../../../prisma/client.ts'

export async function endTestConsents(
  tx: Transaction,
  { team, person, at }: { team: string; person: string; at: Date },
) {
  const ended = await tx.$queryRaw<{ id: string }[]>`
    UPDATE "Consent" SET "withdrawnAt" = ${at} FROM "Client"
    WHERE "Client".id = "clientId" AND "teamId" = ${team} AND "testOnly" AND "withdrawnAt" IS NULL
      AND ("personId" = ${person} OR EXISTS (SELECT FROM "OauthRecord"
        WHERE model = 'Grant' AND "OauthRecord".id = "Consent".id AND payload ->> 'accountId' = ${person}))
    RETURNING "Consent".id`
  const grants = ended.map(({ id }) => id)
  await tx.oauthRecord.deleteMany({
    where: { OR: [{ grantId: { in: grants } }, { model: 'Grant', id: { in: grants } }] },
  })
}
