import { pager as renderPager } from '../../browser/look/components/pager.ts'
import type { PageRequest } from '../page-request.ts'

/** test/portal/fat-team.test.ts bounds the bytes of a page with this many rows. */
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

/** Links to the previous and the next page. */
export const pager = ({ own, query, language }: PageRequest, { offset, shown, more }: Shown, rows = PAGE_ROWS) =>
  renderPager({ language, path: own, query, offset, shown, more, rows })
