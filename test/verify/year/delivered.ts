import { until } from '../../process/service.ts'
import { ask } from '../../support/ask.ts'
import type { YearWorld } from './world.ts'

/**
 * Until each change of a member is published, but in the minute after another one, and no delivery is in progress or due, but for
 * the receiver that always fails, for which the worker waits. Other attempts that failed are due later. A jump of the clock
 * meanwhile is a receiver's silence, after which the worker waits for a minute.
 */
export const delivered = ({ databaseUrl }: YearWorld) =>
  until(
    async () => {
      const due = `state = 'pending' AND "nextAttemptAt" <= clock_timestamp() AND "subscriptionId" <> 'subscription-0'`
      const [row] = await ask(
        databaseUrl,
        `SELECT (SELECT json_agg(change) FROM "MemberChange" change WHERE "publishedAt" IS NULL AND at <= clock_timestamp()
            AND NOT EXISTS (SELECT FROM "MemberChange" last WHERE last."personId" = change."personId"
              AND last."publishedAt" > clock_timestamp() - interval '1 minute')) AS changes,
          (SELECT json_agg("Delivery") FROM "Delivery" WHERE lease IS NOT NULL OR ${due}) AS deliveries`,
      )
      return JSON.stringify(row)
    },
    (left) => left === '{"changes":null,"deliveries":null}',
    120_000,
  )
