import { testClubPage, testClubResetPage } from './pages/test-club.ts'
import { teamOf } from './teams.ts'
import type { Routes, Show } from './visit.ts'

const page: Show = async (visit) => {
  const team = await teamOf(visit)
  const { testClub } = await visit.developer.testClub.get({ team: team.id })
  return testClubPage(visit, team, testClub)
}

/** Asks first, unless there is no test club. */
const question: Show = async (visit) => {
  const team = await teamOf(visit)
  const { testClub } = await visit.developer.testClub.get({ team: team.id })
  if (!testClub) return testClubPage(visit, team, null)
  return testClubResetPage(visit, team, await visit.developer.testClub.holdings({ team: team.id }))
}

export function testClubPages({ get, post }: Routes) {
  const own = '/teams/:team/test-club'
  get(own, page)
  get(`${own}/reset`, question)
  post(`${own}/reset/confirm`, question, async ({ developer, params, at }) => {
    await developer.testClub.reset({ team: params.team! })
    return `${at('teams', params.team!, 'test-club')}?done=filled`
  })
  post(`${own}/review`, page, async ({ developer, params, at }, form) => {
    const [result, correct] = [form.get('result') ?? '', form.get('correct') === 'yes']
    await developer.testClub.review({ team: params.team!, result, correct })
    return `${at('teams', params.team!, 'test-club')}?done=reviewed`
  })
}
