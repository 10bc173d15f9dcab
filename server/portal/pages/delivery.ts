import { badge } from '../../browser/look/components/badge.ts'
import { banner } from '../../browser/look/components/banner.ts'
import { codeBlock } from '../../browser/look/components/code-block.ts'
import { copyable, fact } from '../../browser/look/components/facts.ts'
import { formatMoment } from '../../browser/look/components/time.ts'
import type { Moment } from '../../browser/look/components/timeline.ts'
import { timeline } from '../../browser/look/components/timeline.ts'
import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import type { TeamApp } from './deliveries.ts'
import { deliveriesPageUrl, retryButton, stateBadge } from './deliveries.ts'
import { errorHelp } from './delivery-errors.ts'
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
${fact('webhook-id', copyable('webhook-id', delivery.id))}
${fact(w.subscription, html`<code>${subscription}</code>`)}
${delivery.url !== null && fact(w.sentTo, html`<code>${delivery.url}</code>`)}
${moment(w.created, delivery.createdAt)}
${moment(w.next, delivery.nextAttemptAt)}
${moment(w.finished, delivery.finishedAt)}
</dl>
<div class="buttons"><a class="button" href="${own}/${encodeURIComponent(delivery.id)}">${w.reload}</a> ${retryButton(request, own, delivery)} <a class="button" href="${own}?subscription=${encodeURIComponent(subscription)}">${w.subscriptionDeliveries}</a></div>
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
  const made = history.map(({ number, at, durationMs, status, error, answer }): Moment => {
    const result = error === null ? html`${status}` : html`<span lang="en">${error}</span> ${errorHelp(request, error)}`
    return {
      icon: error === null ? 'circle-check' : 'circle-x',
      tone: error === null ? 'good' : 'bad',
      title: html`${w.attempt(number)}: ${result}`,
      hint: html`${formatMoment(at, language)} · ${w.took(durationMs)}`,
      body:
        answer === null
          ? undefined
          : html`<details><summary>${w.answer}<span class="visually-hidden"> ${number}</span></summary>${verbatim(`${w.answer} ${number}`, answer)}</details>`,
    }
  })
  // The subscription has ended, its secret was lost, or a worker of the former release made the last attempt.
  const isElsewhere = lastError !== null && lastError !== history[0]?.error
  return html`${isElsewhere && banner('bad', html`<span lang="en">${lastError}</span>`)}
${made.length > 0 && html`<p class="hint">${w.attemptsHint}</p>${timeline(w.attempts, made)}`}
${made.length === 0 && html`<p class="hint">${attempts === 0 ? w.attemptsNone : w.attemptsBefore(attempts)}</p>`}
${made.length === 0 && answer !== null && verbatim(w.answer, answer)}`
}

function signed({ w }: PageRequest, { headers }: Details) {
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']]
  if (!('webhook-signature' in headers) || timestamp === undefined) return null
  return html`<h2>${w.signedContent}</h2>
<p>${w.signedHint}</p>
${verbatim(w.signedContent, `${id}.${timestamp}.`)}`
}

/**
 * A browser would read a carriage return as a line feed, but the signature covers each byte.
 */
const verbatim = (label: string, text: string) =>
  codeBlock({ label, code: html`${text.split('\r').map((part, at) => html`${at > 0 && html`&#13;`}${part}`)}` })
