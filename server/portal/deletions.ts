import { errors } from '../../routers/kernel/errors.ts'
import { appOf } from './apps.ts'
import { deletionForm, deletionQuestion } from './pages/deletion.ts'
import { appPage, teamPage } from './pages/team-page.ts'
import { teamOf } from './teams.ts'
import type { Routes, Show } from './visit.ts'

const appDeletion: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  if (team.role !== 'owner') throw errors.ownerNeeded()
  const holdings = await visit.developer.apps.holdings({ app: app.id })
  const own = visit.at('teams', team.id, 'apps', app.id)
  return appPage(visit, team, app, undefined, {
    title: visit.w.deleteApp,
    heading: deletionQuestion(visit, app.name),
    body: deletionForm(visit, { own, name: app.name, holdings }),
  })
}

const teamDeletion: Show = async (visit) => {
  const team = await teamOf(visit)
  if (team.role !== 'owner') throw errors.ownerNeeded()
  const holdings = await visit.developer.teams.holdings({ team: team.id })
  return teamPage(visit, team, 'apps', {
    title: visit.w.deleteTeam,
    heading: deletionQuestion(visit, team.name),
    body: deletionForm(visit, { own: visit.at('teams', team.id), name: team.name, holdings }),
  })
}

const confirmationIn = (form: URLSearchParams) => (form.get('confirm') ?? '').trim()

export function deletionPages({ get, post }: Routes) {
  const [ofTeam, ofApp] = ['/teams/:team', '/teams/:team/apps/:app']
  get(`${ofApp}/delete`, appDeletion)
  post(`${ofApp}/delete/confirm`, appDeletion, async (visit, form) => {
    const { team, app } = await appOf(visit)
    await visit.developer.apps.remove({ app: app.id, confirm: confirmationIn(form) })
    return visit.at('teams', team.id, 'apps', app.id)
  })
  post(`${ofApp}/restore`, appDeletion, async (visit) => {
    const { team, app } = await appOf(visit)
    await visit.developer.apps.restore({ app: app.id })
    return `${visit.at('teams', team.id, 'apps', app.id)}?done=restored`
  })
  get(`${ofTeam}/delete`, teamDeletion)
  post(`${ofTeam}/delete/confirm`, teamDeletion, async (visit, form) => {
    const team = await teamOf(visit)
    await visit.developer.teams.remove({ team: team.id, confirm: confirmationIn(form) })
    return visit.at('teams', team.id)
  })
  post(`${ofTeam}/restore`, teamDeletion, async (visit) => {
    const team = await teamOf(visit)
    await visit.developer.teams.restore({ team: team.id })
    return `${visit.at('teams', team.id)}?done=restored`
  })
}
