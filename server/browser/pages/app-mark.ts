import { parseUrl } from '../../../prisma/parse-url.ts'
import type { PageContext } from '../page-context.ts'
import { readPath } from '../page-context.ts'
import { fill } from '../words/fill.ts'
import type { Words } from '../words/words.ts'
import type { Html } from './html.ts'
import { html, strongName } from './html.ts'
import type { AppView } from './views.ts'

export function renderIcon({ name, icon }: AppView, context: Pick<PageContext, 'path'>): Html {
  if (icon) return html`<img class="icon" src="${readPath(context)}/icons/${icon}" width="48" height="48" alt="">`
  return html`<span class="icon" aria-hidden="true">${/[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase()}</span>`
}

export function parseHomepage({ homepage }: AppView): URL | null {
  const url = homepage ? parseUrl(homepage) : null
  return url?.protocol === 'https:' ? url : null
}

export function renderByline(app: AppView, w: Words): Html {
  const homepage = parseHomepage(app)
  return html`${fill(app.vouched ? w.vouched : w.by, { team: strongName(app.team) })}${homepage && html` · <a href="${homepage.href}" rel="noreferrer noopener" target="_blank">${homepage.host}</a>`}`
}
