import { testClubPage } from './pages/test-club.ts'
import { teamOf } from './teams.ts'
import type { Routes, Show } from './visit.ts'

const page: Show = async (visit) => {
  const team = await teamOf(visit)
  const { testClub } = await visit.developer.testClub.get({ team: team.id })
  return testClubPage(visit, team, testClub)
}

export function testClubPages({ get, post }: Routes) {
  const own = '/teams/:team/test-club'
  get(own, page)
  post(`${own}/reset`, page, async ({ developer, params, at }) => {
    await developer.testClub.reset({ team: params.team! })
    return `${at('teams', params.team!, 'test-club')}?done=filled`
  })
  post(`${own}/review`, page, async ({ developer, params, at }, form) => {
    const [result, correct] = [form.get('result') ?? '', form.get('correct') === 'yes']
    await developer.testClub.review({ team: params.team!, result, correct })
    return `${at('teams', params.team!, 'test-club')}?done=reviewed`
  })
}
