import type { DeliveryFilter } from '../../routers/developer/webhook/delivery-lists.ts'
import { isPostgresText } from '../../routers/kernel/access.ts'
import { deliveryStates } from '../../routers/webhooks/deliveries/retry.ts'
import { EVENT_TYPE } from '../../routers/webhooks/rules.ts'
import { readApp } from './apps.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import { deliveriesPage, resendForm, retryFailedForm, retryForm, spans } from './pages/deliveries.ts'
import { deliveryPage } from './pages/delivery.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'
import { withoutWebhooks } from './pages/webhook.ts'

/** The address's filter; invalid parts are ignored. */
function readFilter({ query }: PageRequest): DeliveryFilter {
  const [type, subscription] = [query.get('type') ?? '', query.get('subscription') ?? '']
  const state = deliveryStates.find((one) => one === query.get('state'))
  return {
    ...(state && { state }),
    ...(EVENT_TYPE.test(type) && { type }),
    ...(subscription !== '' && isPostgresText(subscription) && { subscription }),
  }
}

const isPending = ({ state }: { state: string }) => state === 'pending'

const log: Render = async (request) => {
  const { team, app } = await readApp(request)
  if (team.level !== 'developer') return withoutWebhooks(request, team, app)
  const { deliveries } = request.developer
  const filter = readFilter(request)
  const list = await deliveries.list({ app: app.id, ...filter, limit: PAGE_ROWS, offset: readOffset(request) })
  return deliveriesPage(
    { ...request, isPending: list.items.some(isPending) },
    { team, app, list, filter, filters: await deliveries.filters({ app: app.id }) },
  )
}

const one: Render = async (request) => {
  const { team, app } = await readApp(request)
  const delivery = await request.developer.deliveries.get({ app: app.id, id: request.params.delivery! })
  return deliveryPage({ ...request, isPending: isPending(delivery) }, { team, app, delivery })
}

export function deliveryPages({ get, post }: Routes, now: () => number) {
  const own = '/teams/:team/apps/:app/deliveries'
  const deliveriesPageUrl = ({ at, params }: PageRequest, ...more: string[]) =>
    at('teams', params.team!, 'apps', params.app!, 'deliveries', ...more)
  get(own, log)
  post(own, log, retryFailedForm, async (request, { span, type, subscription }) => {
    const { app } = await readApp(request)
    const since = Math.max(0, Math.floor(now() / 1000) - spans[span])
    const { retried, more } = await request.developer.deliveries.retryFailed({ app: app.id, since, type, subscription })
    const done = retried === 0 ? 'retriedNone' : more ? 'retriedSome' : 'retriedAll'
    const shown = { ...(type !== undefined && { type }), ...(subscription !== undefined && { subscription }), done }
    return `${deliveriesPageUrl(request)}?${new URLSearchParams(shown)}`
  })
  get(`${own}/:delivery`, one)
  post(`${own}/:delivery`, one, retryForm, async (request) => {
    const { app } = await readApp(request)
    await request.developer.deliveries.retry({ app: app.id, id: request.params.delivery! })
    return `${deliveriesPageUrl(request, request.params.delivery!)}?done=retried`
  })
  post(`${own}/:delivery`, one, resendForm, async (request) => {
    const { app } = await readApp(request)
    await request.developer.deliveries.resend({ app: app.id, id: request.params.delivery! })
    return `${deliveriesPageUrl(request, request.params.delivery!)}?done=resent`
  })
}
