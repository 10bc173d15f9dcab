import type { PortalLanguage } from '../../language.ts'
import type { Html } from '../../pages/html.ts'
import { html, name } from '../../pages/html.ts'
import { badge } from '../components/badge.ts'
import { banner } from '../components/banner.ts'
import { card, foldedCard } from '../components/card.ts'
import { chart } from '../components/chart.ts'
import { codeBlock } from '../components/code-block.ts'
import { confirmation } from '../components/confirmation.ts'
import { diff } from '../components/diff.ts'
import { emptyState } from '../components/empty-state.ts'
import { copyable, factList, tiles } from '../components/facts.ts'
import { checkBox, checkBoxes, fileInput, select, textArea, textInput } from '../components/field.ts'
import { pager } from '../components/pager.ts'
import { progress } from '../components/progress.ts'
import { table } from '../components/table.ts'
import { tabs } from '../components/tabs.ts'
import { formatDay, formatMoment, timeAgo, timeZoneNote } from '../components/time.ts'
import { timeline } from '../components/timeline.ts'
import { LONG, words } from './words.ts'

const tones = ['good', 'pending', 'bad', 'plain'] as const
const HOUR = 3_600

/** `now` is in Unix seconds. */
export function samples(language: PortalLanguage, now: number): Record<keyof (typeof words)['en']['parts'], Html> {
  const w = words[language]
  const ago = (seconds: number) => timeAgo(now - seconds, { now, language })
  const one = (id: string) => ({ id, name: id, label: w.name })
  const at = (id: string, problem?: string) => ({
    ...one(id),
    hint: w.hint,
    value: LONG,
    required: true,
    problem: problem === undefined ? undefined : { texts: [problem], focus: false },
  })
  const options = tones.map((tone) => [tone, w.states[tone]] as const)
  return {
    buttons: html`<div class="buttons"><button type="button" class="primary">${w.next}</button> <button type="button">${w.other}</button> <a class="button" href="#buttons">${w.open}</a> <button type="button" class="danger">${w.remove}</button> <button type="button" disabled>${w.off}</button></div>`,
    fields: html`<form method="get" action="/look">${textInput(at('text'), 'text')}${textInput(at('wrong', w.wrong), 'url')}${textArea(at('area'), 3)}${select({ ...one('choice'), value: 'bad' }, options)}${fileInput(one('file'), 'image/png')}${checkBox({ ...one('flag'), label: w.sentence }, true)}${checkBoxes({ ...one('boxes'), hint: w.hint, problem: { texts: [w.wrong], focus: false } }, ['good'], options)}</form>`,
    badges: html`<p>${tones.map((tone) => html`${badge(w.states[tone], tone)} `)}</p>`,
    banners: html`${tones.map((tone) => banner(tone, w.sentence))}`,
    card: html`${card(w.parts.facts, html`<p>${w.sentence}</p>`)}${foldedCard(w.next, html`<p>${w.sentence}</p>`)}${foldedCard(LONG, html`<p>${w.sentence}</p>`, true)}`,
    facts: html`${tiles([
      [w.count, '1,234,567'],
      [w.states.good, 12],
      [w.states.bad, 0],
    ])}${factList([
      [w.name, copyable(w.name, LONG)],
      [w.role, badge(w.states.good, 'good')],
    ])}`,
    table: html`${table(
      w.parts.table,
      [w.name, w.role, w.count, w.actions],
      tones.map((tone, row) => [
        row === 1 ? LONG : name('Ada Lovelace'),
        badge(w.states[tone], tone),
        10 ** row,
        html`<div class="buttons"><a class="button" href="#table">${w.open}</a></div>`,
      ]),
    )}${table(
      `${w.parts.table} 2`,
      [w.name, w.role, w.count, w.parts.times, w.parts.code, w.actions],
      [
        [
          html`<code>${LONG}</code>`,
          w.states.good,
          3,
          formatMoment(now, language),
          html`<code>GET /storage/{collection}/{key}</code>`,
          html`<a href="#table">${w.open}</a>`,
        ],
      ],
    )}`,
    empty: emptyState('inbox', w.none, html`<a class="button" href="#empty">${w.open}</a>`),
    confirmation: confirmation({
      lead: w.question,
      facts: factList([[w.name, LONG]]),
      action: '/look',
      fields: textInput(at('typed'), 'text'),
      button: w.remove,
      cancel: { text: w.cancel, address: '#confirmation' },
    }),
    code: html`${codeBlock({ label: 'curl', language: 'curl', code: `curl -H "Authorization: Bearer ${'x'.repeat(160)}" http://apps.localhost:3000/v1/me/profile` })}${codeBlock({ label: 'JSON', code: '{\n  "name": "one"\n}' })}`,
    diff: diff(
      [
        { label: w.name, removed: ['App'], added: [LONG] },
        { label: w.role, removed: [], added: [w.states.good, w.states.plain] },
        { label: w.count, removed: [html`<code>https://app.example/callback</code>`], added: [] },
      ],
      language,
    ),
    timeline: timeline(w.parts.timeline, [
      { icon: 'circle-check', tone: 'good', title: w.states.good, hint: ago(30) },
      { icon: 'clock', tone: 'pending', title: LONG, hint: ago(3 * HOUR), body: html`<p>${w.sentence}</p>` },
      { icon: 'circle-x', tone: 'bad', title: w.states.bad, hint: ago(50 * HOUR) },
      { icon: 'info', tone: 'plain', title: w.states.plain, hint: ago(500 * HOUR) },
    ]),
    chart: chart({
      label: w.count,
      language,
      series: [
        { name: w.states.good, tone: 'good' },
        { name: w.states.plain, tone: 'plain' },
        { name: w.states.bad, tone: 'bad' },
      ],
      intervals: Array.from({ length: 24 }, (_, hour) => ({
        at: now - (23 - hour) * HOUR,
        values: [(hour * 37) % 90, hour % 5 === 0 ? 12 : 0, hour === 20 ? 30 : 0],
      })),
    }),
    progress: html`<p>${progress({ label: w.count, value: 0, max: 10, text: '0 %' })}<br>${progress({ label: w.count, value: 4, max: 10, text: '40 %' })}<br>${progress({ label: w.count, value: 9.4, max: 10, text: w.used })}</p>`,
    times: html`<p>${ago(5)}<br>${ago(120)}<br>${ago(-2 * HOUR)}<br>${ago(30 * HOUR)}<br>${ago(400 * HOUR)}<br>${formatDay(now, language)}<br>${formatMoment(now, language)}</p><p class="hint">${timeZoneNote(language)}</p>`,
    tabs: tabs(
      w.parts.tabs,
      [w.parts.card, w.parts.table, w.parts.code, LONG].map((text, index) => ({
        text,
        address: '#tabs',
        current: index === 1,
      })),
    ),
    pager: html`${pager({ language, path: '/look', query: new URLSearchParams(), offset: 30, shown: 30, more: true, rows: 30 })}`,
  }
}
