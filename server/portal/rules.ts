import { readApp } from './apps.ts'
import type { Render, Routes } from './page-request.ts'
import { ruleForm, rulesPage } from './pages/rules.ts'

const page: Render = async (request) => {
  const { team, app } = await readApp(request)
  const { items } = await request.developer.rules.list({ app: app.id })
  return rulesPage(request, { team, app }, items)
}

export function rulePages({ get, post }: Routes) {
  const own = '/teams/:team/apps/:app/rules'
  get(own, page)
  post(own, page, ruleForm, async (request, { collection, rule }) => {
    const { team, app } = await readApp(request)
    await request.developer.rules.set({ app: app.id, collection, rule })
    return `${request.at('teams', team.id, 'apps', app.id, 'rules')}?done=${rule === 'anyone' ? 'removed' : 'saved'}`
  })
}
