import { isPostgresText } from '../../routers/kernel/access.ts'
import type { Addresses } from './addresses.ts'
import { readApp } from './apps.ts'
import type { PageRequest, Routes } from './page-request.ts'
import { CLIENTS_OFFERED } from './pages/client-choice.ts'
import { PAGE_ROWS } from './pages/pager.ts'
import type { RequestsView } from './pages/requests.ts'
import { ALL, requestsPage, statuses } from './pages/requests.ts'
import { readTeam } from './teams.ts'

const CURSOR = /^\d{1,14}-\d{1,18}$/

/** The address's filters; invalid ones are ignored. */
function readFilter({ query }: PageRequest) {
  const [client, before] = [query.get('client') ?? '', query.get('before') ?? '']
  const member = (query.get('member') ?? '').trim()
  const [shown, after] = [query.get('status') ?? '', query.get('after') ?? '']
  const status = statuses.find((one) => String(one) === shown)
  const [method, route] = (query.get('route') ?? '').split(' ')
  return {
    errors: shown === '',
    successes: shown === ALL,
    ...(method && route && { method, route }),
    ...(CURSOR.test(after) && { after }),
    ...(client !== '' && { client }),
    ...(member !== '' && isPostgresText(member) && { member }),
    ...(status && { status }),
    ...(CURSOR.test(before) && { before }),
    limit: PAGE_ROWS,
  }
}

export function requestPages({ get }: Routes, { catalogue }: Addresses) {
  const show = async (request: PageRequest, { team, app }: Pick<RequestsView, 'team' | 'app'>) => {
    const requestId = (request.query.get('id') ?? '').trim()
    const { requests, clients } = request.developer
    const found =
      requestId === ''
        ? await requests.list({ team: team.id, app: app?.id, ...readFilter(request) })
        : { ...(await requests.get({ team: team.id, requestId })), next: null, newest: null }
    const query = { team: team.id, apps: app && [app.id], limit: CLIENTS_OFFERED }
    return requestsPage(request, { team, app, catalogue, clients: (await clients.list(query)).items, ...found })
  }
  get('/teams/:team/requests', async (request) => show(request, { team: await readTeam(request) }))
  get('/teams/:team/apps/:app/requests', async (request) => show(request, await readApp(request)))
}
