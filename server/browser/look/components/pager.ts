import type { PortalLanguage } from '../../language.ts'
import { html } from '../../pages/html.ts'
import { componentWords } from './words.ts'

interface Pager {
  language: PortalLanguage
  path: string
  /** The address's parameters, which the links preserve. */
  query: URLSearchParams
  offset: number
  /** Entries on this page. */
  shown: number
  /** Whether others follow. */
  more: boolean
  /** Entries of a page. */
  rows: number
}

/** Links to the previous and the next page; null where there is one page. */
export function pager({ language, path, query, offset, shown, more, rows }: Pager) {
  if (offset === 0 && !more) return null
  const w = componentWords[language].pager
  const link = (text: string, to: number, rel: string) => {
    const kept = new URLSearchParams(query)
    kept.delete('done')
    if (to === 0) kept.delete('offset')
    else kept.set('offset', String(to))
    return html`<a rel="${rel}" href="${path}${kept.size > 0 && `?${kept}`}">${text}</a>`
  }
  return html`<nav class="pager" aria-label="${w.label}">
${offset > 0 && link(w.newer, Math.max(0, offset - rows), 'prev')}
${shown > 0 && html`<span>${w.shown(offset + 1, offset + shown)}</span>`}
${more && link(w.older, offset + rows, 'next')}
</nav>`
}
