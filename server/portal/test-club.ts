import type { Render, Routes } from './page-request.ts'
import { changeForm, resetForm, reviewForm, testClubPage, testClubResetPage, withdrawForm } from './pages/test-club.ts'
import { readTeam } from './teams.ts'

const page: Render = async (request) => {
  const team = await readTeam(request)
  const { testClub } = await request.developer.testClub.get({ team: team.id })
  return testClubPage(request, team, testClub)
}

/** Asks first, unless there is no test club. */
const question: Render = async (request) => {
  const team = await readTeam(request)
  const { testClub } = await request.developer.testClub.get({ team: team.id })
  if (!testClub) return testClubPage(request, team, null)
  return testClubResetPage(request, team, await request.developer.testClub.impact({ team: team.id }))
}

export function testClubPages({ get, post }: Routes) {
  const own = '/teams/:team/test-club'
  get(own, page)
  get(`${own}/reset`, question)
  post(`${own}/reset`, question, resetForm, async ({ developer, params, at }) => {
    await developer.testClub.reset({ team: params.team! })
    return `${at('teams', params.team!, 'test-club')}?done=filled`
  })
  post(own, page, changeForm, async ({ developer, params, at }, fields) => {
    await developer.testClub.change({ team: params.team!, ...fields })
    return `${at('teams', params.team!, 'test-club')}?done=changed`
  })
  post(own, page, withdrawForm, async ({ developer, params, at }, fields) => {
    await developer.testClub.withdraw({ team: params.team!, ...fields })
    return `${at('teams', params.team!, 'test-club')}?done=changed`
  })
  post(own, page, reviewForm, async ({ developer, params, at }, fields) => {
    await developer.testClub.review({ team: params.team!, ...fields })
    return `${at('teams', params.team!, 'test-club')}?done=reviewed`
  })
}
