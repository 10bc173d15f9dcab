import { renderSVG } from 'uqr'
import type { findShownCard } from '../../../../routers/me/member-card.ts'
import type { PageContext } from '../../../browser/page-context.ts'
import type { Html } from '../../../browser/pages/html.ts'
import { html, name, strongName, svgHtml } from '../../../browser/pages/html.ts'
import { connectedLink, document } from '../../../browser/pages/layout.ts'
import { fill } from '../../../browser/words/fill.ts'
import { formatDay } from '../../../browser/words/format-day.ts'

type CardView = NonNullable<Awaited<ReturnType<typeof findShownCard>>>

function facts({ name: member, club, validUntil }: CardView, { w }: PageContext): Html {
  const rows = [
    [w.card.name, name(member)],
    [w.organisation.club, name(club)],
    [w.card.until, validUntil && formatDay(new Date(validUntil), w)],
  ]
  return html`<dl>${rows.map(([what, value]) => value && html`<div><dt>${what}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** For whoever has scanned a code; null for one that is not genuine or has expired, and for a card that no longer exists. */
export function checkedPage({ card, ...context }: PageContext & { card: CardView | null }): string {
  const { w } = context
  return document({
    ...context,
    title: w.card.title,
    isForStrangers: true,
    body: card
      ? html`${state(card, context)}
${facts(card, context)}`
      : html`<p class="problem">${w.card.unknown}</p>
<p>${w.card.unknownHint}</p>`,
  })
}

const state = ({ valid }: CardView, { w }: PageContext) =>
  valid ? html`<p class="done">${w.card.valid}</p>` : html`<p class="problem">${w.card.notValid}</p>`

interface OwnCard extends CardView {
  /** The address of its page; undefined unless it is valid. */
  url: string | undefined
}

/** Dark on white in every theme, with the quiet zone of four modules. */
const qr = (url: string) => svgHtml(renderSVG(url, { ecc: 'M', border: 4, pixelSize: 4 }))

export function ownCardsPage({
  member,
  cards,
  ...context
}: PageContext & { member: string; cards: OwnCard[] }): string {
  const { w } = context
  return document({
    ...context,
    title: w.card.own,
    body: html`<p class="lead">${fill(w.card.ownFor, { member: strongName(member) })} ${cards.length === 0 ? w.card.none : w.card.hint}</p>
${cards.map(
  (card) => html`<section class="app">
<h2>${name(card.club)}</h2>
${card.url === undefined ? state(card, context) : html`<figure class="qr" role="img" aria-label="${w.card.qr}">${qr(card.url)}</figure>`}
${facts(card, context)}
</section>`,
)}
<p class="links">${connectedLink(context)}</p>`,
  })
}
