import type { Ending } from './record-type.ts'

/** Citus can join a temporary table in two ways, of which this one works: docs/scaling.md. */
const those = '(SELECT * FROM ending) ending'

/** Deletes the row; `about` says what is deleted with it. */
export const removed = (table: string, keys: readonly string[], about: string): Ending => ({
  about,
  lock: 'UPDATE',
  current: 'true',
  statements: [
    `DELETE FROM "${table}" row USING ${those} WHERE ${keys.map((key) => `row."${key}" = ending."${key}"`).join(' AND ')}
      RETURNING ${keys.map((key) => `row."${key}"`).join(', ')}`,
  ],
})

const belongs = `("leftAt" IS NULL OR "leftAt" > :now)`

/** A membership that has not begun ends where it begins. */
const leaves = `"leftAt" = :now, "joinedAt" = LEAST("joinedAt", :now)`

export const membershipLeft: Ending = {
  about: '`leftAt` becomes the time of the call, if the membership has not ended before; so does a later `joinedAt`.',
  lock: 'NO KEY UPDATE',
  current: belongs,
  statements: [
    `UPDATE "Membership" row SET ${leaves} FROM ${those}
      WHERE row."organisationId" = ending."organisationId" AND row."personId" = ending."personId" AND ${belongs}
      RETURNING row."organisationId", row."personId"`,
  ],
}

export const membershipsLeft = (column: 'personId' | 'organisationId', about: string): Ending => ({
  about,
  lock: 'NO KEY UPDATE',
  current: `EXISTS (SELECT FROM "Membership" WHERE "${column}" = row.id AND ${belongs})`,
  statements: [
    `UPDATE "Membership" SET ${leaves} FROM ${those} WHERE "${column}" = ending.id AND ${belongs} RETURNING ending.id`,
  ],
})

const hasResults = `EXISTS (SELECT FROM "QuizResult" WHERE "quizId" = row.id)`

export const quizClosed: Ending = {
  about: 'A quiz without results is removed; one with results is closed, and stays with them.',
  lock: 'UPDATE',
  current: `NOT (state = 'closed' AND ${hasResults})`,
  statements: [
    `UPDATE "Quiz" row SET state = 'closed' FROM ending
      WHERE row.id = ending.id AND state <> 'closed' AND ${hasResults} RETURNING row.id`,
    `DELETE FROM "Quiz" row USING ending WHERE row.id = ending.id AND NOT ${hasResults} RETURNING row.id`,
  ],
}
