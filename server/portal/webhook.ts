import { randomBytes } from 'node:crypto'
import { errors } from '../../routers/kernel/errors.ts'
import { readApp } from './apps.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import {
  formerSecretForm,
  testForm,
  webhookForm,
  webhookPage,
  webhookRemovalForm,
  webhookRemovalPage,
  withoutWebhooks,
} from './pages/webhook.ts'

const page: Render = async (request) => {
  const { team, app } = await readApp(request)
  if (team.level !== 'developer') return withoutWebhooks(request, team, app)
  const [webhook, eventTypes] = [
    await request.developer.webhook.get({ app: app.id }),
    (await request.developer.webhook.kinds({ app: app.id })).items,
  ]
  return webhookPage(request, { team, app, webhook, eventTypes, fresh: randomBytes(32).toString('base64url') })
}

/** Asks first, unless the webhook no longer exists. */
const removal: Render = async (request) => {
  const { team, app } = await readApp(request)
  if (team.level !== 'developer') return withoutWebhooks(request, team, app)
  const { url } = await request.developer.webhook.get({ app: app.id })
  return url === null ? page(request) : webhookRemovalPage(request, { team, app, url })
}

const webhookPageUrl = ({ at, params }: PageRequest, ...more: string[]) =>
  at('teams', params.team!, 'apps', params.app!, ...more)

export function webhookPages({ get, post }: Routes) {
  const own = '/teams/:team/apps/:app/webhook'
  get(own, page)
  post(own, page, webhookForm, async (request, { secret, removesSecret, ...fields }) => {
    const { app } = await readApp(request)
    const change = secret?.trim() ? secret : removesSecret ? null : undefined
    await request.developer.webhook.set({ app: app.id, ...fields, secret: change })
    return `${webhookPageUrl(request, 'webhook')}?done=saved`
  })
  post(own, page, formerSecretForm, async (request) => {
    const { app } = await readApp(request)
    await request.developer.webhook.endFormerSecret({ app: app.id })
    return `${webhookPageUrl(request, 'webhook')}?done=ended`
  })
  get(`${own}/remove`, removal)
  post(`${own}/remove`, removal, webhookRemovalForm, async (request, confirmed) => {
    const { app } = await readApp(request)
    const { url } = await request.developer.webhook.get({ app: app.id })
    // Removes the confirmed webhook, not one set meanwhile.
    if (url !== null && confirmed.url !== url) throw errors.changedMeanwhile()
    await request.developer.webhook.remove({ app: app.id })
    return `${webhookPageUrl(request, 'webhook')}?done=removed`
  })
  post(own, page, testForm, async (request, fields) => {
    const { app } = await readApp(request)
    const { delivery } = await request.developer.webhook.test({ app: app.id, ...fields })
    return `${webhookPageUrl(request, 'deliveries', delivery)}?done=sent`
  })
}
