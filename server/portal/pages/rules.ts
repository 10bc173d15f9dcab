import { developer } from '../../../routers/developer/procedures.ts'
import { table } from '../../browser/look/components/table.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

export const ruleForm = form('set', developer.rules.set, ['collection', 'rule'], {
  errorsAt: { tooManyRules: 'collection' },
})

type Rules = Awaited<ReturnType<Developer['rules']['list']>>['items']

export function rulesPage(request: PageRequest, { team, app }: { team: Team; app: App }, rules: Rules): string {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id)
  const { field } = ruleForm.at(request, { rule: 'author' })
  const removal = (collection: string) => {
    const { hidden } = ruleForm.at(request, { collection, rule: 'anyone' })
    return html`${hidden('collection')}${hidden('rule')}`
  }
  const rows = rules.map(({ collection, rule }) => [
    html`<code>${collection}</code>`,
    w.rules.rules[rule],
    html`<form class="inline" method="post" action="${own}/rules/set">${removal(collection)}
<button>${w.remove}<span class="visually-hidden"> ${collection}</span></button></form>`,
  ])
  return appPage(request, team, app, 'data', {
    title: w.rules.title,
    trail: [[w.appSections.data, `${own}/data`]],
    body: html`<p class="lead">${w.rules.lead}</p>
${rows.length === 0 ? html`<p>${w.rules.none}</p>` : table(w.rules.title, [w.data.collection, w.rules.writers, w.actions], rows)}
<form class="card" method="post" action="${own}/rules/set" novalidate>
<h2>${w.rules.set}</h2>
${field('collection', { label: w.data.collection, hint: w.rules.collectionHint })}
${field('rule', {
  label: w.rules.writers,
  hint: w.rules.writersHint,
  options: [
    ['author', w.rules.rules.author],
    ['app', w.rules.rules.app],
  ],
})}
<button>${w.save}</button>
</form>`,
  })
}
