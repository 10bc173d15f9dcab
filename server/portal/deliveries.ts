import type { DeliveryFilter } from '../../routers/developer/webhook/delivery-lists.ts'
import { isPostgresText } from '../../routers/kernel/access.ts'
import { deliveryStates } from '../../routers/webhooks/deliveries/retry.ts'
import { EVENT_TYPE } from '../../routers/webhooks/rules.ts'
import { appOf } from './apps.ts'
import { deliveriesPage } from './pages/deliveries.ts'
import { deliveryPage } from './pages/delivery.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import { withoutWebhooks } from './pages/webhook.ts'
import type { Routes, Show, Visit } from './visit.ts'

/** The address's filter; invalid parts are ignored. */
function filterOf({ query }: Visit): DeliveryFilter {
  const [type, subscription] = [query.get('type') ?? '', query.get('subscription') ?? '']
  const state = deliveryStates.find((one) => one === query.get('state'))
  return {
    ...(state && { state }),
    ...(EVENT_TYPE.test(type) && { type }),
    ...(subscription !== '' && isPostgresText(subscription) && { subscription }),
  }
}

const log: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  if (team.level !== 'developer') return withoutWebhooks(visit, team, app)
  const { deliveries } = visit.developer
  const filter = filterOf(visit)
  const list = await deliveries.list({ app: app.id, ...filter, limit: PAGE_ROWS, offset: offsetOf(visit) })
  return deliveriesPage(visit, { team, app, list, filter, filters: await deliveries.filters({ app: app.id }) })
}

const one: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  const delivery = await visit.developer.deliveries.get({ app: app.id, id: visit.params.delivery! })
  return deliveryPage(visit, { team, app, delivery })
}

/** Of what can be retried at once: all of it has failed. */
const FILTERS = ['type', 'subscription']

const HOUR_SECONDS = 3_600
const spans: Record<string, number> = {
  hour: HOUR_SECONDS,
  day: 24 * HOUR_SECONDS,
  week: 7 * 24 * HOUR_SECONDS,
  month: 30 * 24 * HOUR_SECONDS,
}

export function deliveryPages({ get, post }: Routes, now: () => number) {
  const own = '/teams/:team/apps/:app/deliveries'
  const addressOf = ({ at, params }: Visit, ...more: string[]) =>
    at('teams', params.team!, 'apps', params.app!, 'deliveries', ...more)
  get(own, log)
  post(`${own}/retry-failed`, log, async (visit, form) => {
    const { app } = await appOf(visit)
    const seconds = spans[form.get('span') ?? ''] ?? HOUR_SECONDS
    const since = Math.max(0, Math.floor(now() / 1000) - seconds)
    // An invalid one is refused: to ignore it would retry more than was asked for.
    const filter = Object.fromEntries([...form].filter(([name, value]) => FILTERS.includes(name) && value !== ''))
    const { retried, more } = await visit.developer.deliveries.retryFailed({ app: app.id, since, ...filter })
    const done = retried === 0 ? 'retriedNone' : more ? 'retriedSome' : 'retriedAll'
    return `${addressOf(visit)}?${new URLSearchParams({ ...filter, done })}`
  })
  get(`${own}/:delivery`, one)
  post(`${own}/:delivery/retry`, one, async (visit) => {
    const { app } = await appOf(visit)
    await visit.developer.deliveries.retry({ app: app.id, id: visit.params.delivery! })
    return `${addressOf(visit, visit.params.delivery!)}?done=retried`
  })
}
