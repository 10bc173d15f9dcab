import { randomBytes } from 'node:crypto'
import { errors } from '../../routers/kernel/errors.ts'
import { appOf } from './apps.ts'
import { webhookPage, webhookRemovalPage, withoutWebhooks } from './pages/webhook.ts'
import type { Routes, Show, Visit } from './visit.ts'

const page: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  if (team.level !== 'developer') return withoutWebhooks(visit, team, app)
  const [webhook, kinds] = [
    await visit.developer.webhook.get({ app: app.id }),
    (await visit.developer.webhook.kinds({ app: app.id })).items,
  ]
  return webhookPage(visit, { team, app, webhook, kinds, fresh: randomBytes(32).toString('base64url') })
}

/** Asks first, unless the webhook no longer exists. */
const removal: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  if (team.level !== 'developer') return withoutWebhooks(visit, team, app)
  const { url } = await visit.developer.webhook.get({ app: app.id })
  return url === null ? page(visit) : webhookRemovalPage(visit, { team, app, url })
}

const addressOf = ({ at, params }: Visit, ...more: string[]) => at('teams', params.team!, 'apps', params.app!, ...more)

export function webhookPages({ get, post }: Routes) {
  const own = '/teams/:team/apps/:app/webhook'
  get(own, page)
  post(`${own}/set`, page, async (visit, form) => {
    const { app } = await appOf(visit)
    const [url, typed] = ['url', 'secret'].map((field) => (form.get(field) ?? '').trim())
    const secret = typed !== '' ? typed : form.has('remove-secret') ? null : undefined
    await visit.developer.webhook.set({ app: app.id, url: url!, secret })
    return `${addressOf(visit, 'webhook')}?done=saved`
  })
  post(`${own}/end-former-secret`, page, async (visit) => {
    const { app } = await appOf(visit)
    await visit.developer.webhook.endFormerSecret({ app: app.id })
    return `${addressOf(visit, 'webhook')}?done=ended`
  })
  get(`${own}/remove`, removal)
  post(`${own}/remove/confirm`, removal, async (visit, form) => {
    const { app } = await appOf(visit)
    const { url } = await visit.developer.webhook.get({ app: app.id })
    // Removes the confirmed webhook, not one set meanwhile.
    if (url !== null && form.get('confirm') !== url) throw errors.changedMeanwhile()
    await visit.developer.webhook.remove({ app: app.id })
    return `${addressOf(visit, 'webhook')}?done=removed`
  })
  post(`${own}/test`, page, async (visit, form) => {
    const { app } = await appOf(visit)
    const type = form.get('type')
    const { delivery } = await visit.developer.webhook.test({ app: app.id, ...(type !== null && { type }) })
    return `${addressOf(visit, 'deliveries', delivery)}?done=sent`
  })
}
