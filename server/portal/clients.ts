import type { Section } from '../../routers/kernel/scopes.ts'
import type { Addresses } from './addresses.ts'
import type { Developer } from './client.ts'
import { clientAuthenticationPages } from './client-authentication.ts'
import type { PageRequest, Render, Routes } from './page-request.ts'
import {
  clientOverview,
  credentialsPage,
  referenceForm,
  removalForm,
  removalPage,
  scopesForm,
  scopesPage,
  settingsForm,
  signInPage,
  withdrawalForm,
} from './pages/client.ts'
import { productionForm, productionPage } from './pages/production.ts'
import { readClient } from './read-client.ts'

export function clientPages(routes: Routes, { issuer, references }: Addresses, now: () => number) {
  const { get, post } = routes
  const readView = async (request: PageRequest, shown = { members: false }) => ({
    ...(await readClient(request, shown)),
    issuer,
    now: now(),
  })
  const page: Render = async (request) => clientOverview(request, await readView(request, { members: true }))
  const signIn: Render = async (request) => signInPage(request, await readView(request))
  const scopes: Render = async (request) => scopesPage(request, await readView(request))
  const credentials: Render = async (request) => credentialsPage(request, await readView(request))
  const production: Render = async (request) => productionPage(request, await readView(request))
  const removal: Render = async (request) => removalPage(request, await readView(request, { members: true }))
  const clientPageUrl = ({ at, params }: PageRequest, client = params.client!) =>
    at('teams', params.team!, 'clients', client)

  const own = '/teams/:team/clients/:client'
  get(own, page)
  get(`${own}/sign-in`, signIn)
  get(`${own}/scopes`, scopes)
  get(`${own}/credentials`, credentials)
  get(`${own}/production`, production)
  get(`${own}/remove`, removal)

  type Changes = Omit<Parameters<Developer['clients']['update']>[0], 'client'>
  const update = (tab: string) => async (request: PageRequest, fields: Changes) => {
    const { client } = await readView(request)
    const { wanted } = await request.developer.clients.update({ client: client.id, ...fields })
    return `${clientPageUrl(request)}/${tab}?done=${wanted ? 'review' : 'saved'}`
  }
  post(`${own}/sign-in`, signIn, settingsForm, update('sign-in'))
  post(`${own}/scopes`, scopes, scopesForm, update('scopes'))
  // The reference signs in with the team's own client, so that its scopes are the team's.
  post(own, page, referenceForm, async (request, { section }) => {
    const { client } = await readView(request)
    const fields = { client_id: client.id, scopes: client.scopes.join(' '), ...(await examplesFor(request, section)) }
    return `${references[section]}?${new URLSearchParams(fields)}`
  })
  clientAuthenticationPages(routes, credentials, now)
  post(`${own}/production`, production, productionForm, async (request, fields) => {
    const { client } = await readView(request)
    const asked = await request.developer.clients.requestProduction({ client: client.id, ...fields })
    return `${clientPageUrl(request, asked.id)}?done=requested`
  })
  post(own, page, withdrawalForm, async (request, fields) => {
    const { team, client } = await readView(request)
    const { removed } = await request.developer.clients.withdrawRequest({ client: client.id, ...fields })
    if (!removed) return `${clientPageUrl(request)}?done=changesWithdrawn`
    const above = client.app === null ? request.at('teams', team.id) : request.at('teams', team.id, 'apps', client.app)
    return `${above}?done=requestWithdrawn`
  })
  post(`${own}/remove`, removal, removalForm, async (request, fields) => {
    const { team, client } = await readView(request)
    await request.developer.clients.remove({ client: client.id, ...fields })
    const above =
      client.app === null ? request.at('teams', team.id) : request.at('teams', team.id, 'apps', client.app, 'clients')
    return `${above}?done=removed`
  })
}

/** Values of the path parameters, from the team's test club. */
async function examplesFor({ developer, params }: PageRequest, section: Section): Promise<Record<string, string>> {
  if (section === 'apps') return {}
  const { testClub } = await developer.testClub.get({ team: params.team! })
  const [quiz] = testClub?.quizzes ?? []
  return {
    ...((section === 'lms' || section === 'sync') && quiz && { quizId: quiz.id }),
    ...(section === 'notify' && testClub?.app && { id: testClub.app.id }),
  }
}
