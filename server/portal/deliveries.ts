import { appOf } from './apps.ts'
import { deliveriesPage, deliveryPage } from './pages/deliveries.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import { withoutWebhooks } from './pages/webhook.ts'
import type { Routes, Show, Visit } from './visit.ts'

const states = ['pending', 'delivered', 'failed'] as const

const log: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  if (team.level !== 'developer') return withoutWebhooks(visit, team, app)
  const state = states.find((one) => one === visit.query.get('state'))
  const query = { app: app.id, ...(state && { state }), limit: PAGE_ROWS, offset: offsetOf(visit) }
  return deliveriesPage(visit, { team, app, list: await visit.developer.deliveries.list(query) })
}

const one: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  const delivery = await visit.developer.deliveries.get({ app: app.id, id: visit.params.delivery! })
  return deliveryPage(visit, { team, app, delivery })
}

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
    const { retried, more } = await visit.developer.deliveries.retryFailed({ app: app.id, since })
    const done = retried === 0 ? 'retriedNone' : more ? 'retriedSome' : 'retriedAll'
    return `${addressOf(visit)}?done=${done}`
  })
  get(`${own}/:delivery`, one)
  post(`${own}/:delivery/retry`, one, async (visit) => {
    const { app } = await appOf(visit)
    await visit.developer.deliveries.retry({ app: app.id, id: visit.params.delivery! })
    return `${addressOf(visit, visit.params.delivery!)}?done=retried`
  })
}
