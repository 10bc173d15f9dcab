/** An app's storage counter in a club, and the bytes stored there. */
export interface Usage {
  counted: number
  stored: number
}

/** Reads both for app $1 and club $2 in one snapshot. */
export const counterAndSum = `SELECT
    coalesce((SELECT bytes FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2), 0)::float8 AS counted,
    coalesce((SELECT sum(octet_length(value)) FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2), 0)::float8 AS stored`
