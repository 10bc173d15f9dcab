import type { Language } from '../language.ts'
import type { PageContext } from '../page-context.ts'
import { pathOf } from '../page-context.ts'
import type { Html } from './html.ts'
import { html, strongName } from './html.ts'
import { words } from './layout.ts'
import type { AppView } from './views.ts'

export function iconOf({ name, icon }: AppView, look: Pick<PageContext, 'path'>): Html {
  if (icon) return html`<img class="icon" src="${pathOf(look)}/icons/${icon}" width="48" height="48" alt="">`
  return html`<span class="icon" aria-hidden="true">${/[\p{L}\p{N}]/u.exec(name)?.[0].toUpperCase()}</span>`
}

export function homepageOf({ homepage }: AppView): URL | null {
  const url = homepage && URL.canParse(homepage) ? new URL(homepage) : null
  return url?.protocol === 'https:' ? url : null
}

export function bylineOf(app: AppView, language: Language): Html {
  const homepage = homepageOf(app)
  return html`${words[language].by(strongName(app.team))}${homepage && html` · <a href="${homepage.href}" rel="noreferrer noopener" target="_blank">${homepage.host}</a>`}`
}
