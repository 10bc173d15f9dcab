import { developer } from '../../../routers/developer/procedures.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { codeBlock } from '../../browser/look/components/code-block.ts'
import { copyable, fact } from '../../browser/look/components/facts.ts'
import { bytesText, countText } from '../../browser/look/components/number-text.ts'
import { table } from '../../browser/look/components/table.ts'
import { formatMoment } from '../../browser/look/components/time.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { pager, readOffset } from './pager.ts'
import { environmentTones } from './team.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

type Data = { [Name in keyof Developer['data']]: Awaited<ReturnType<Developer['data'][Name]>> }

interface Place {
  team: Team
  app: App
  club?: { id: string; name: string }
  owner?: string
  collection?: string
}

/** Bytes of a value that can be edited here: escaped in a form, any text of this size fits into one. */
export const MAX_EDITED = 2_500

export const valueForm = form('save', developer.data.put, ['etag', 'value'], { errorsAt: { quotaExceeded: 'value' } })
export const entryRemovalForm = form('delete', developer.data.remove, ['etag'])

/** The address has `shared`, or `of-` and the member. */
const ownerSegment = (owner: string) => (owner === '' ? 'shared' : `of-${owner}`)

const dataPageUrl = ({ at }: PageRequest, { team, app, club, owner, collection }: Place, ...more: string[]) =>
  at(
    ...['teams', team.id, 'apps', app.id, 'data'],
    ...[club?.id, owner !== undefined && ownerSegment(owner), collection].filter((part) => typeof part === 'string'),
    ...more,
  )

/** The pages of the data above this one. */
function buildTrail(request: PageRequest, { club, owner, collection, ...place }: Place, isEntry = false) {
  if (club === undefined) return []
  const above = [[request.w.appSections.data, dataPageUrl(request, place)] as const]
  if (collection === undefined) return above
  const clubLink = [name(club.name), dataPageUrl(request, { ...place, club })] as const
  if (!isEntry) return [...above, clubLink]
  return [
    ...above,
    clubLink,
    [name(collection), dataPageUrl(request, { ...place, club, owner: owner!, collection })] as const,
  ]
}

export function storesPage(request: PageRequest, place: Place, { items, more }: Data['stores']): string {
  const { w, language } = request
  const rows = items.map(({ club, environment, bytes }) => [
    html`<a href="${dataPageUrl(request, { ...place, club })}">${name(club.name)}</a>`,
    badge(w.environment[environment], environmentTones[environment]),
    bytesText(bytes, language),
  ])
  return appPage(request, place.team, place.app, 'data', {
    title: w.data.title,
    body: html`<p class="lead">${w.data.lead}</p>
<p class="links"><a href="${request.at('teams', place.team.id, 'apps', place.app.id, 'rules')}">${w.rules.open}</a></p>
${rows.length === 0 ? html`<p>${w.data.none}</p>` : table(w.data.title, [w.data.club, w.data.environment, w.data.size], rows)}
${pager(request, { offset: readOffset(request), shown: rows.length, more })}`,
  })
}

export function collectionsPage(request: PageRequest, place: Place, { items, more }: Data['collections']): string {
  const { w, language } = request
  const rows = items.map(({ owner, collection, entries }) => [
    html`<a href="${dataPageUrl(request, { ...place, owner: owner?.id ?? '', collection })}">${collection}</a>`,
    owner ? name(owner.name) : w.data.shared,
    countText(entries, language),
  ])
  return appPage(request, place.team, place.app, 'data', {
    title: w.data.collections,
    heading: name(place.club!.name),
    trail: buildTrail(request, place),
    body: html`${rows.length === 0 ? html`<p>${w.data.none}</p>` : table(w.data.collections, [w.data.collection, w.data.owner, w.data.entries], rows)}
${pager(request, { offset: readOffset(request), shown: rows.length, more })}`,
  })
}

export function entriesPage(request: PageRequest, place: Place, { owner, items, more }: Data['entries']): string {
  const { w, language } = request
  const rows = items.map(({ key, bytes, updatedAt, updatedBy }) => [
    html`<a href="${dataPageUrl(request, place, key)}">${key}</a>`,
    bytesText(bytes, language),
    formatMoment(updatedAt, language),
    ...(owner ? [] : [renderWriter(request, updatedBy)]),
  ])
  const columns = [w.data.key, w.data.size, w.data.changed, ...(owner ? [] : [w.data.changedBy])]
  return appPage(request, place.team, place.app, 'data', {
    title: w.data.entries,
    heading: name(place.collection!),
    trail: buildTrail(request, place),
    body: html`<p class="hint">${owner ? w.data.privateHint(name(owner.name)) : w.data.sharedHint}</p>
${rows.length === 0 ? html`<p>${w.data.none}</p>` : table(w.data.entries, columns, rows)}
${pager(request, { offset: readOffset(request), shown: rows.length, more })}
<p class="hint">${w.utc}</p>`,
  })
}

const renderWriter = ({ w }: PageRequest, writer: { name: string } | null) =>
  writer ? name(writer.name) : w.data.unknown

export function entryPage(request: PageRequest, place: Place & { key: string }, entry: Data['entry']): string {
  const { w, language } = request
  const { owner, value, bytes, updatedAt, createdBy, updatedBy, etag, environment } = entry
  const isEditable = environment === 'sandbox'
  return appPage(request, place.team, place.app, 'data', {
    title: w.data.entry,
    heading: name(place.key),
    trail: buildTrail(request, place, true),
    body: html`<dl class="facts">
${fact(w.data.owner, owner ? name(owner.name) : w.data.shared)}
${fact(w.data.size, bytesText(bytes, language))}
${fact(w.data.changed, formatMoment(updatedAt, language))}
${!owner && html`${fact(w.data.changedBy, renderWriter(request, updatedBy))}${fact(w.data.createdBy, renderWriter(request, createdBy))}`}
${fact('ETag', copyable('ETag', etag))}
</dl>
${value === null ? html`<p>${w.data.tooLarge}</p>` : isEditable && bytes <= MAX_EDITED ? editForm(request, place, etag, value) : codeBlock({ label: w.data.value, language: 'JSON', code: value })}
${
  isEditable &&
  html`<form method="post" action="${dataPageUrl(request, place, place.key)}/delete">${entryRemovalForm.at(request, { etag }).hidden('etag')}<button>${w.data.remove}</button></form>`
}`,
  })
}

function editForm(request: PageRequest, place: Place & { key: string }, etag: string, value: string) {
  const { w } = request
  const { seen, field } = valueForm.at(request, { etag, value })
  return html`<form method="post" action="${dataPageUrl(request, place, place.key)}/save" novalidate>${seen('etag')}
${field('value', { label: w.data.value, hint: w.data.valueHint, rows: Math.min(24, value.split('\n').length + 3) })}
<button class="primary">${w.save}</button>
</form>`
}
