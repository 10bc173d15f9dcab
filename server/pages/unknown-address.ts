import { html } from './html.ts'
import type { Language } from './language.ts'
import { selfContained } from './self-contained.ts'
import { words } from './words.ts'

export interface UnknownAddressView {
  language: Language
  requestId: string
  /** The base address of the API at this host. */
  api?: string | undefined
  /** The page of connected apps, where this is the host that members sign in at. */
  connected?: string | undefined
  /** The address of the overview. */
  overview?: string | undefined
}

/** For a browser at an address where nothing is. */
export function unknownAddressPage({ language, requestId, api, connected, overview }: UnknownAddressView): string {
  const w = words[language]
  const ways = [
    [api && `${api}/openapi.json`, w.document],
    [connected, w.connected],
    [overview, w.back],
  ].filter(([address]) => address !== undefined)
  return selfContained({
    language,
    title: w.unknown,
    body: html`<p class="lead">${w.unknownHint}</p>
${api && html`<p>${w.apiHost}</p><code class="address">${api}</code>`}
<p class="ways">${ways.map(([address, text]) => html`<a href="${address}">${text}</a> `)}</p>
<p class="hint">${w.request} <code>${requestId}</code></p>`,
  })
}
