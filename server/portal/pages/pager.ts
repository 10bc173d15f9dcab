import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'

/** A page of 30 rows weighs less than 60 kB with its style sheets and script; one of 50 deliveries weighed 74. */
export const PAGE_ROWS = 30

export const readOffset = ({ query }: PageRequest) => {
  const offset = Number(query.get('offset') ?? 0)
  return Number.isSafeInteger(offset) && offset > 0 && offset < 2 ** 31 ? offset : 0
}

interface Shown {
  offset: number
  shown: number
  more: boolean
}

/** Links to the previous and the next page; the address's other parameters are preserved. */
export function pager({ ctx, query, w }: PageRequest, { offset, shown, more }: Shown, rows = PAGE_ROWS) {
  if (offset === 0 && !more) return null
  const link = (text: string, to: number) => {
    const kept = new URLSearchParams(query)
    kept.delete('done')
    if (to === 0) kept.delete('offset')
    else kept.set('offset', String(to))
    return html`<a href="${ctx.state.path}${kept.size > 0 && `?${kept}`}">${text}</a>`
  }
  return html`<nav class="pager" aria-label="${w.pager.label}">
${offset > 0 && link(w.pager.newer, Math.max(0, offset - rows))}
${shown > 0 && html`<span>${w.pager.shown(offset + 1, offset + shown)}</span>`}
${more && link(w.pager.older, offset + rows)}
</nav>`
}
