import { pictureTooLarge } from '../../routers/developer/pictures/reencode.ts'
import { formatSentence } from '../../routers/developer/shared/validation.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Addresses } from './addresses.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import { appOverview, clientForm, detailsForm, logoForm, logoRemovalForm } from './pages/app.ts'
import { clubsPage } from './pages/clubs.ts'
import { PAGE_ROWS, readOffset } from './pages/pager.ts'
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

export function appPages({ get, post, upload }: Routes, { catalogue }: Addresses, clubApproval: boolean) {
  const page: Render = async (request) => {
    const { team, app } = await readApp(request)
    const query = { team: team.id, apps: [app.id], limit: PAGE_ROWS, offset: readOffset(request) }
    const [clients, health] = await Promise.all([
      request.developer.clients.list(query),
      request.developer.apps.health({ app: app.id }),
    ])
    return appOverview(request, { team, app, clients, health, catalogue, clubApproval })
  }
  const own = '/teams/:team/apps/:app'
  get(own, page)
  post(own, page, detailsForm, async (request, fields) => {
    const { team, app } = await readApp(request)
    const { wanted } = await request.developer.apps.update({ app: app.id, ...fields })
    return `${request.at('teams', team.id, 'apps', app.id)}?done=${wanted ? 'review' : 'saved'}`
  })
  upload(own, page, logoForm, async (request, read) => {
    const { team, app } = await readApp(request)
    const file = await read(() => errors.registrationRefused(formatSentence(pictureTooLarge), [pictureTooLarge]))
    const picture = Buffer.from(await file.picture.arrayBuffer()).toString('base64')
    const { wanted } = await request.developer.apps.setLogo({ app: app.id, ...file, picture })
    return `${request.at('teams', team.id, 'apps', app.id)}?done=${wanted?.logo === undefined ? 'saved' : 'review'}`
  })
  post(own, page, logoRemovalForm, async (request, fields) => {
    const { team, app } = await readApp(request)
    await request.developer.apps.removeLogo({ app: app.id, ...fields })
    return `${request.at('teams', team.id, 'apps', app.id)}?done=removed`
  })
  post(own, page, clientForm, async (request, fields) => {
    const { team, app } = await readApp(request)
    const { id } = await request.developer.clients.create({ app: app.id, ...fields })
    return `${request.at('teams', team.id, 'clients', id)}?done=created`
  })
}
