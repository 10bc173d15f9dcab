import { randomBytes } from 'node:crypto'
import { pictureTooLarge } from '../../routers/developer/pictures/reencode.ts'
import { formatSentence } from '../../routers/developer/shared/validation.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Addresses } from './addresses.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import { appOverview } from './pages/app.ts'
import { clientForm, clientsPage } from './pages/app-clients.ts'
import { clubsPage } from './pages/clubs.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'
import { appWithdrawalForm, detailsForm, logoForm, logoRemovalForm, settingsPage } from './pages/settings.ts'
import { readTeam } from './teams.ts'

export function clubPages({ get }: Routes) {
  get('/teams/:team/apps/:app/clubs', async (request) => {
    const { team, app } = await readApp(request)
    const query = { app: app.id, limit: PAGE_ROWS, offset: readOffset(request) }
    return clubsPage(request, { team, app }, await request.developer.apps.clubs(query))
  })
}

/** Throws 404 for another team's app. */
export async function readApp(request: PageRequest) {
  const team = await readTeam(request)
  const app = await request.developer.apps.get({ app: request.params.app! })
  if (app.team !== team.id) throw errors.addressUnknown()
  return { team, app }
}

/** Refused requests on the overview. */
const LATEST_SHOWN = 5

export function appPages({ get, post, upload }: Routes, addresses: Addresses, clubApproval: boolean) {
  const own = '/teams/:team/apps/:app'
  get(own, async (request) => {
    const { team, app } = await readApp(request)
    const { apps, requests } = request.developer
    const [health, latest] = await Promise.all([
      apps.health({ app: app.id }),
      requests.list({ team: team.id, app: app.id, limit: LATEST_SHOWN }),
    ])
    const verifier = randomBytes(32).toString('base64url')
    return appOverview(request, { team, app, health, latest, addresses, verifier, clubApproval })
  })
  const clients: Render = async (request) => {
    const { team, app } = await readApp(request)
    const query = { team: team.id, apps: [app.id], limit: PAGE_ROWS, offset: readOffset(request) }
    return clientsPage(request, { team, app, clients: await request.developer.clients.list(query) })
  }
  get(`${own}/clients`, clients)
  post(`${own}/clients`, clients, clientForm, async (request, fields) => {
    const { team, app } = await readApp(request)
    const { id } = await request.developer.clients.create({ app: app.id, ...fields })
    const { items } = await request.developer.clients.list({ team: team.id, apps: [app.id], limit: 2 })
    const page = items.length === 1 ? ['start'] : []
    return `${request.at('teams', team.id, 'clients', id, ...page)}?done=created`
  })
  settingsPages({ get, post, upload })
}

function settingsPages({ get, post, upload }: Routes) {
  const own = '/teams/:team/apps/:app/settings'
  const settingsUrl = ({ at, params }: PageRequest) => at('teams', params.team!, 'apps', params.app!, 'settings')
  const page: Render = async (request) => settingsPage(request, await readApp(request))
  get(own, page)
  post(own, page, detailsForm, async (request, fields) => {
    const { app } = await readApp(request)
    const { wanted } = await request.developer.apps.update({ app: app.id, ...fields })
    return `${settingsUrl(request)}?done=${wanted ? 'review' : 'saved'}`
  })
  upload(own, page, logoForm, async (request, read) => {
    const { app } = await readApp(request)
    const file = await read(() => errors.registrationRefused(formatSentence(pictureTooLarge), [pictureTooLarge]))
    const picture = Buffer.from(await file.picture.arrayBuffer()).toString('base64')
    const { wanted } = await request.developer.apps.setLogo({ app: app.id, ...file, picture })
    return `${settingsUrl(request)}?done=${wanted?.logo === undefined ? 'saved' : 'review'}`
  })
  post(own, page, logoRemovalForm, async (request, fields) => {
    const { app } = await readApp(request)
    await request.developer.apps.removeLogo({ app: app.id, ...fields })
    return `${settingsUrl(request)}?done=removed`
  })
  post(own, page, appWithdrawalForm, async (request, fields) => {
    const { app } = await readApp(request)
    await request.developer.apps.withdrawChanges({ app: app.id, ...fields })
    return `${settingsUrl(request)}?done=changesWithdrawn`
  })
}
