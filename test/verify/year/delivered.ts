import { until } from '../../process/service.ts'
import { ask } from '../../support/ask.ts'
import type { YearWorld } from './world.ts'

/**
 * Until no delivery is in progress or due, but for the receiver that always fails, for which the worker waits. Other attempts that
 * failed are due later. A jump of the clock meanwhile is a receiver's silence, after which the worker waits for a minute.
 */
export const delivered = ({ databaseUrl }: YearWorld) =>
  until(
    async () => {
      const due = `state = 'pending' AND "nextAttemptAt" <= clock_timestamp() AND "subscriptionId" <> 'subscription-0'`
      const [row] = await ask(
        databaseUrl,
        `SELECT json_agg("Delivery") AS due FROM "Delivery" WHERE lease IS NOT NULL OR ${due}`,
      )
      return JSON.stringify(row.due)
    },
    (due) => due === 'null',
    120_000,
  )
