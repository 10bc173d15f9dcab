import type { Database } from '../../prisma/client.ts'

/** Expires the cursors of an app's store in a club, as if its changes so far were more than 30 days old. */
export const expireCursors = (db: Database, { app, club }: { app: string; club: string }) =>
  db.$executeRaw`UPDATE "StorageUsage" SET changes = changes + 1, horizon = changes + 1
    WHERE "appId" = ${app} AND "clubId" = ${club}`
