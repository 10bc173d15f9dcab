import { pictureTooLarge } from '../../routers/developer/pictures/reencode.ts'
import { sentenceOf } from '../../routers/developer/shared/validation.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Addresses } from './addresses.ts'
import { linesOf, versionOf } from './form-values.ts'
import { appOverview } from './pages/app.ts'
import { offsetOf, PAGE_ROWS } from './pages/pager.ts'
import { teamOf } from './teams.ts'
import type { Routes, Show, Visit } from './visit.ts'

/** Throws 404 for another team's app. */
export async function appOf(visit: Visit) {
  const team = await teamOf(visit)
  const app = await visit.developer.apps.get({ app: visit.params.app! })
  if (app.team !== team.id) throw errors.addressUnknown()
  return { team, app }
}

export function appPages({ get, post, upload }: Routes, { catalogue }: Addresses, clubApproval: boolean) {
  const page: Show = async (visit) => {
    const { team, app } = await appOf(visit)
    const query = { team: team.id, apps: [app.id], limit: PAGE_ROWS, offset: offsetOf(visit) }
    const [clients, health] = await Promise.all([
      visit.developer.clients.list(query),
      visit.developer.apps.health({ app: app.id }),
    ])
    return appOverview(visit, { team, app, clients, health, catalogue, clubApproval })
  }
  const own = '/teams/:team/apps/:app'
  get(own, page)
  post(`${own}/details`, page, async (visit, form) => {
    const { team, app } = await appOf(visit)
    const text = (field: string) => (form.get(field) ?? '').trim()
    const { wanted } = await visit.developer.apps.update({
      app: app.id,
      version: versionOf(form),
      name: text('name'),
      description: text('description'),
      homepage: text('homepage'),
    })
    return `${visit.at('teams', team.id, 'apps', app.id)}?done=${wanted ? 'review' : 'saved'}`
  })
  upload(`${own}/logo`, page, async (visit, read) => {
    const { team, app } = await appOf(visit)
    const form = await read(() => errors.registrationRefused(sentenceOf(pictureTooLarge), [pictureTooLarge]))
    const file = form.get('picture')
    if (file === null || typeof file === 'string') throw errors.requestInvalid()
    const picture = Buffer.from(await file.arrayBuffer()).toString('base64')
    const { wanted } = await visit.developer.apps.setLogo({ app: app.id, version: versionOf(form), picture })
    return `${visit.at('teams', team.id, 'apps', app.id)}?done=${wanted?.logo === undefined ? 'saved' : 'review'}`
  })
  post(`${own}/remove-logo`, page, async (visit, form) => {
    const { team, app } = await appOf(visit)
    await visit.developer.apps.removeLogo({ app: app.id, version: versionOf(form) })
    return `${visit.at('teams', team.id, 'apps', app.id)}?done=removed`
  })
  post(`${own}/clients`, page, async (visit, form) => {
    const { team, app } = await appOf(visit)
    const { id } = await visit.developer.clients.create({
      app: app.id,
      name: (form.get('name') ?? '').trim(),
      type: form.get('type') as 'web' | 'native',
      redirectUris: linesOf(form, 'redirects'),
      devices: form.has('devices'),
      scopes: form.getAll('scope'),
    })
    return `${visit.at('teams', team.id, 'clients', id)}?done=created`
  })
}
