import { readFileSync } from 'node:fs'
import type { Step } from '../../../http/state.ts'
import type { PortalLanguage } from '../../language.ts'
import { portalLanguage, preferLanguages } from '../../language.ts'
import { document } from '../../pages/document.ts'
import { html } from '../../pages/html.ts'
import { styleSheet } from '../../pages/style-sheet.ts'
import { allowScripts, sendPage, sendScript, sendStyleSheet } from '../../send-page.ts'
import { onlyGet } from '../../stored-file.ts'
import { componentScript, denseRules } from '../components/sheet.ts'
import { componentWords } from '../components/words.ts'
import { lookAt, sendLook } from '../serve.ts'
import { themeScript } from '../theme.ts'
import { preloadTypeface } from '../typefaces.ts'
import { samples } from './samples.ts'
import { words } from './words.ts'

/** The build copies the file. */
const ownRules = readFileSync(new URL('gallery.css', import.meta.url), 'utf8')

const ROOT = '/look'

/** Serves `/look` of every host in the trial: what tests and people see of a component before a page has it. */
export function gallery(now: () => number): Step {
  const sheet = styleSheet + denseRules + ownRules
  return (ctx, next) => {
    const { path, search } = ctx.state
    const file = lookAt(path, ROOT)
    if (file) return sendLook(ctx, file)
    if (![ROOT, `${ROOT}/style.css`, `${ROOT}/script.js`].includes(path)) return next()
    ctx.state.operation = 'look'
    ctx.state.address = path
    onlyGet(ctx)
    if (path === `${ROOT}/style.css`) return sendStyleSheet(ctx, sheet)
    if (path === `${ROOT}/script.js`) return sendScript(ctx, componentScript)
    preferLanguages(ctx, new URLSearchParams(search).get('language'))
    sendPage(ctx, galleryPage(portalLanguage(ctx), now() / 1_000))
    allowScripts(ctx)
  }
}

function galleryPage(language: PortalLanguage, now: number): string {
  const { title, lead, mark, skip, parts } = words[language]
  const { copy, copied } = componentWords[language]
  const shown = samples(language, now)
  return document({
    language,
    mark,
    skip,
    title,
    style: html`${themeScript(ROOT, language)}
${preloadTypeface(ROOT)}
<link rel="stylesheet" href="${ROOT}/style.css">
<script src="${ROOT}/script.js" defer data-copy="${copy}" data-copied="${copied}"></script>`,
    body: html`<p class="lead">${lead}</p>
${Object.entries(parts).map(
  ([id, heading]) => html`<section id="${id}" aria-labelledby="${id}-heading"><h2 id="${id}-heading">${heading}</h2>
${shown[id as keyof typeof shown]}</section>
`,
)}`,
  })
}
