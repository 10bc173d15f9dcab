import type { Section } from '../../routers/kernel/scopes.ts'
import type { Addresses } from './addresses.ts'
import { clientAuthenticationPages } from './client-authentication.ts'
import { clientOf } from './client-of.ts'
import { linesOf, purposeOf, sectionOf, versionOf } from './form-values.ts'
import { clientOverview, productionPage, removalPage } from './pages/client.ts'
import type { Routes, Show, Visit } from './visit.ts'

export function clientPages(routes: Routes, { issuer, references }: Addresses, now: () => number) {
  const { get, post } = routes
  const viewOf = async (visit: Visit) => ({ ...(await clientOf(visit)), issuer, now: now() })
  const page: Show = async (visit) => clientOverview(visit, await viewOf(visit))
  const production: Show = async (visit) => productionPage(visit, await viewOf(visit))
  const removal: Show = async (visit) => removalPage(visit, await viewOf(visit))
  const addressOf = ({ at, params }: Visit, client = params.client!) => at('teams', params.team!, 'clients', client)

  const own = '/teams/:team/clients/:client'
  get(own, page)
  get(`${own}/production`, production)
  get(`${own}/remove`, removal)

  const update = async (visit: Visit, form: URLSearchParams, changes: object) => {
    const { client } = await viewOf(visit)
    const { wanted } = await visit.developer.clients.update({ client: client.id, version: versionOf(form), ...changes })
    return `${addressOf(visit)}?done=${wanted ? 'review' : 'saved'}`
  }
  post(`${own}/settings`, page, (visit, form) =>
    update(visit, form, {
      name: (form.get('name') ?? '').trim(),
      redirectUris: linesOf(form, 'redirects'),
      devices: form.has('devices'),
      ...(form.has('logouts') && { postLogoutRedirectUris: linesOf(form, 'logouts') }),
      ...(form.has('idTokenAlgorithm') && { idTokenAlgorithm: form.get('idTokenAlgorithm') }),
    }),
  )
  post(`${own}/scopes`, page, (visit, form) => {
    const purpose = purposeOf(form)
    const given = Object.keys(purpose).length > 0
    return update(visit, form, { scopes: form.getAll('scope'), ...(given && { purpose }) })
  })
  // The reference signs in with the team's own client, so that its scopes are the team's.
  post(`${own}/reference`, page, async (visit, form) => {
    const { client } = await viewOf(visit)
    const section = sectionOf(form)
    const reference = references[section]
    if (!client.redirectUris.includes(reference)) {
      const redirectUris = [...client.redirectUris, reference]
      await visit.developer.clients.update({ client: client.id, version: client.version, redirectUris })
    }
    const fields = { client_id: client.id, ...(await examplesFor(visit, section)) }
    return `${reference}?${new URLSearchParams(fields)}`
  })
  clientAuthenticationPages(routes, page, now)
  post(`${own}/production/request`, production, async (visit, form) => {
    const { client } = await viewOf(visit)
    const asked = await visit.developer.clients.requestProduction({
      client: client.id,
      purpose: purposeOf(form),
      name: (form.get('name') ?? '').trim(),
      redirectUris: linesOf(form, 'redirects'),
      devices: form.has('devices'),
    })
    return `${addressOf(visit, asked.id)}?done=requested`
  })
  post(`${own}/remove/confirm`, removal, async (visit, form) => {
    const { team, client } = await viewOf(visit)
    await visit.developer.clients.remove({ client: client.id, confirm: (form.get('confirm') ?? '').trim() })
    const above = client.app === null ? visit.at('teams', team.id) : visit.at('teams', team.id, 'apps', client.app)
    return `${above}?done=removed`
  })
}

/** Values of the path parameters, from the team's test club. */
async function examplesFor({ developer, params }: Visit, section: Section): Promise<Record<string, string>> {
  if (section === 'apps') return {}
  const { testClub } = await developer.testClub.get({ team: params.team! })
  const [quiz] = testClub?.quizzes ?? []
  return {
    ...((section === 'lms' || section === 'sync') && quiz && { quizId: quiz.id }),
    ...(section === 'notify' && testClub?.app && { id: testClub.app.id }),
  }
}
