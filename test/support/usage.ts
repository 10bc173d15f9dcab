/** The counter of an app in a club, and what it counts. */
export interface Usage {
  counted: number
  stored: number
}

/** Reads both of an app ($1) and a club ($2) as they are at one moment. */
export const counterAndSum = `SELECT
    coalesce((SELECT bytes FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2), 0)::float8 AS counted,
    coalesce((SELECT sum(octet_length(value)) FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2), 0)::float8 AS stored`
