import { appOf } from './apps.ts'
import { rulesPage } from './pages/rules.ts'
import type { Routes, Show } from './visit.ts'

const page: Show = async (visit) => {
  const { team, app } = await appOf(visit)
  const { items } = await visit.developer.rules.list({ app: app.id })
  return rulesPage(visit, { team, app }, items)
}

export function rulePages({ get, post }: Routes) {
  const own = '/teams/:team/apps/:app/rules'
  get(own, page)
  post(`${own}/set`, page, async (visit, form) => {
    const { team, app } = await appOf(visit)
    const collection = (form.get('collection') ?? '').trim()
    const rule = form.get('rule') as 'anyone' | 'author' | 'app'
    await visit.developer.rules.set({ app: app.id, collection, rule })
    return `${visit.at('teams', team.id, 'apps', app.id, 'rules')}?done=${rule === 'anyone' ? 'removed' : 'saved'}`
  })
}
