import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { hidden } from './fields.ts'
import { formOf } from './form.ts'
import { table } from './table.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

type Rules = Awaited<ReturnType<Developer['rules']['list']>>['items']

export function rulesPage(visit: Visit, { team, app }: { team: Team; app: App }, rules: Rules): string {
  const { w, at } = visit
  const own = at('teams', team.id, 'apps', app.id)
  const form = formOf(visit, 'set')
  const rows = rules.map(({ collection, rule }) => [
    html`<code>${collection}</code>`,
    w.rules.kinds[rule],
    html`<form class="inline" method="post" action="${own}/rules/set">${hidden('collection', collection)}${hidden('rule', 'anyone')}
<button>${w.remove}<span class="unseen"> ${collection}</span></button></form>`,
  ])
  return appPage(visit, team, app, 'data', {
    title: w.rules.title,
    trail: [[w.appSections.data, `${own}/data`]],
    body: html`<p class="lead">${w.rules.lead}</p>
${rows.length === 0 ? html`<p>${w.rules.none}</p>` : table(w.rules.title, [w.data.collection, w.rules.writers, w.actions], rows)}
<form class="sheet" method="post" action="${own}/rules/set" novalidate>
<h2>${w.rules.set}</h2>
${form.field({ id: 'rule-collection', name: 'collection', label: w.data.collection, hint: w.rules.collectionHint, required: true, maxlength: 64 })}
${form.choice({ id: 'rule', name: 'rule', label: w.rules.writers, hint: w.rules.writersHint, value: 'author' }, [
  ['author', w.rules.kinds.author],
  ['app', w.rules.kinds.app],
])}
<button>${w.save}</button>
</form>`,
  })
}
