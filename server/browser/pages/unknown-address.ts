import { html } from './html.ts'
import { words } from './overview-words.ts'
import type { PlainContext } from './self-contained.ts'
import { selfContained } from './self-contained.ts'

export interface UnknownAddressView extends PlainContext {
  requestId: string
  api?: string | undefined
  /** The page of connected apps, if members sign in at this host. */
  connected?: string | undefined
  overview?: string | undefined
}

export function unknownAddressPage({
  language,
  brand,
  requestId,
  api,
  connected,
  overview,
}: UnknownAddressView): string {
  const w = words[language]
  const ways = [
    [api && `${api}/docs`, w.reference],
    [api && `${api}/openapi.json`, w.document],
    ['/docs', w.documentation],
    [connected, w.connected],
    [overview, w.back],
  ].filter(([address]) => address !== undefined)
  return selfContained({
    language,
    brand,
    title: w.unknown,
    body: html`<p class="lead">${w.unknownHint}</p>
${api && html`<p>${w.apiHost}</p><code class="address">${api}</code>`}
<p class="links">${ways.map(([address, text]) => html`<a href="${address}">${text}</a> `)}</p>
<p class="hint">${w.request} <code>${requestId}</code></p>`,
  })
}
