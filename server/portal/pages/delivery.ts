import { badge } from '../../browser/look/components/badge.ts'
import { fact } from '../../browser/look/components/facts.ts'
import { table } from '../../browser/look/components/table.ts'
import { formatMoment } from '../../browser/look/components/time.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import type { TeamApp } from './deliveries.ts'
import { deliveriesPageUrl, retryButton, stateBadge } from './deliveries.ts'
import { appPage } from './team-page.ts'

type Details = Awaited<ReturnType<Developer['deliveries']['get']>>

export function deliveryPage(request: PageRequest, { team, app, delivery }: TeamApp & { delivery: Details }): string {
  const { w, language } = request
  const own = deliveriesPageUrl(request, { team, app })
  const moment = (label: string, unix: number | null) => unix !== null && fact(label, formatMoment(unix, language))
  const { subscription } = delivery
  return appPage(request, team, app, undefined, {
    title: w.delivery,
    body: html`<p>${stateBadge(request, delivery)} ${delivery.test && badge(w.testEvent, 'plain')}</p>
<dl class="facts">
${fact(w.event, html`<code>${delivery.type}</code>`)}
${fact('webhook-id', html`<code>${delivery.id}</code>`)}
${fact(w.subscription, html`<code>${subscription}</code>`)}
${delivery.url !== null && fact(w.sentTo, html`<code>${delivery.url}</code>`)}
${moment(w.created, delivery.createdAt)}
${moment(w.next, delivery.nextAttemptAt)}
${moment(w.finished, delivery.finishedAt)}
</dl>
<div class="buttons"><a class="button" href="${own}/${encodeURIComponent(delivery.id)}">${w.reload}</a> ${delivery.state !== 'delivered' && retryButton(request, own, delivery)} <a class="button" href="${own}?subscription=${encodeURIComponent(subscription)}">${w.subscriptionDeliveries}</a></div>
<h2>${w.attempts}</h2>
${attempts(request, delivery)}
<h2>${w.headersSent}</h2>
<dl class="facts">${Object.entries(delivery.headers).map(([header, value]) =>
      fact(header, value === null ? html`<em>${w.secretHeader}</em>` : html`<code>${value}</code>`),
    )}</dl>
<h2>${w.bodySent}</h2>
${verbatim(w.bodySent, delivery.body)}
${signed(request, delivery)}
<p class="hint">${w.utc}</p>`,
  })
}

function attempts(request: PageRequest, { history, attempts, lastError, answer }: Details) {
  const { w, language } = request
  const rows = history.map(({ number, at, durationMs, status, error, answer }) => [
    number,
    formatMoment(at, language),
    w.took(durationMs),
    error === null ? html`<strong>${status}</strong>` : html`<span lang="en">${error}</span>`,
    answer === null
      ? w.none
      : html`<details><summary>${w.show}<span class="visually-hidden"> ${number}</span></summary>${verbatim(`${w.answer} ${number}`, answer)}</details>`,
  ])
  // The subscription has ended, its secret was lost, or a worker of the former release made the last attempt.
  const isElsewhere = lastError !== null && lastError !== history[0]?.error
  return html`${isElsewhere && html`<p class="problem" lang="en">${lastError}</p>`}
${rows.length > 0 && html`<p class="hint">${w.attemptsHint}</p>${table(w.attempts, [w.number, w.time, w.duration, w.result, w.answer], rows)}`}
${rows.length === 0 && html`<p class="hint">${attempts === 0 ? w.attemptsNone : w.attemptsBefore(attempts)}</p>`}
${rows.length === 0 && answer !== null && verbatim(w.answer, answer)}`
}

function signed({ w }: PageRequest, { headers }: Details) {
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
  if (!('webhook-signature' in headers) || timestamp === undefined) return null
  return html`<h2>${w.signedContent}</h2>
<p>${w.signedHint}</p>
${verbatim(w.signedContent, `${id}.${timestamp}.`)}`
}

/**
 * Scrolls by itself, so it can be focused and has a name. A browser would read a carriage return as a line feed, but the
 * signature covers each byte.
 */
const verbatim = (label: string, text: string) =>
  html`<pre tabindex="0" role="region" aria-label="${label}" dir="auto">
${text.split('\r').map((part, at) => html`${at > 0 && html`&#13;`}${part}`)}</pre>`
