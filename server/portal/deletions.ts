import { errors } from '../../routers/kernel/errors.ts'
import { readApp } from './apps.ts'
import type { Render, Routes } from './page-request.ts'
import { deletionConfirmation, deletionForm, deletionQuestion, restoration } from './pages/deletion.ts'
import { appPage, teamPage } from './pages/team-page.ts'
import { readTeam } from './teams.ts'

const appDeletion: Render = async (request) => {
  const { team, app } = await readApp(request)
  if (team.role !== 'owner') throw errors.ownerNeeded()
  const impact = await request.developer.apps.impact({ app: app.id })
  const own = request.at('teams', team.id, 'apps', app.id)
  return appPage(request, team, app, 'settings', {
    title: request.w.deleteApp,
    heading: deletionQuestion(request, app.name),
    body: deletionForm(request, { own, name: app.name, impact }),
  })
}

const teamDeletion: Render = async (request) => {
  const team = await readTeam(request)
  if (team.role !== 'owner') throw errors.ownerNeeded()
  const impact = await request.developer.teams.impact({ team: team.id })
  return teamPage(request, team, 'apps', {
    title: request.w.deleteTeam,
    heading: deletionQuestion(request, team.name),
    body: deletionForm(request, { own: request.at('teams', team.id), name: team.name, impact }),
  })
}

export function deletionPages({ get, post }: Routes) {
  const [teamPath, appPath] = ['/teams/:team', '/teams/:team/apps/:app']
  get(`${appPath}/delete`, appDeletion)
  post(`${appPath}/delete`, appDeletion, deletionConfirmation, async (request, fields) => {
    const { team, app } = await readApp(request)
    await request.developer.apps.remove({ app: app.id, ...fields })
    return request.at('teams', team.id, 'apps', app.id)
  })
  post(appPath, appDeletion, restoration, async (request) => {
    const { team, app } = await readApp(request)
    await request.developer.apps.restore({ app: app.id })
    return `${request.at('teams', team.id, 'apps', app.id)}?done=restored`
  })
  get(`${teamPath}/delete`, teamDeletion)
  post(`${teamPath}/delete`, teamDeletion, deletionConfirmation, async (request, fields) => {
    const team = await readTeam(request)
    await request.developer.teams.remove({ team: team.id, ...fields })
    return request.at('teams', team.id)
  })
  post(teamPath, teamDeletion, restoration, async (request) => {
    const team = await readTeam(request)
    await request.developer.teams.restore({ team: team.id })
    return `${request.at('teams', team.id)}?done=restored`
  })
}
