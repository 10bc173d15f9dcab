import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Html } from '../../pages/html.ts'
import { builtHtml, html } from '../../pages/html.ts'
import type { IconName } from './icon-names.ts'
import { iconNames } from './icon-names.ts'

/** In the bundle beside the module, where the build writes those in use; else in the package. */
function readIcons(): Record<string, { body: string }> {
  const beside = new URL('icons.json', import.meta.url)
  const require = createRequire(import.meta.url)
  return JSON.parse(
    readFileSync(existsSync(beside) ? beside : require.resolve('@iconify-json/lucide/icons.json'), 'utf8'),
  ).icons
}

/** The attributes that all bodies share stand once, on the drawing. */
const SHARED = / (?:fill="none"|stroke="currentColor"|stroke-linecap="round"|stroke-linejoin="round"|stroke-width="2")/g

function draw(body: string): Html {
  return html`<svg class="lucide" viewBox="0 0 24 24" aria-hidden="true" focusable="false" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round" stroke-width="2">${builtHtml(body.replace(SHARED, ''))}</svg>`
}

const icons = readIcons()
const drawn = Object.fromEntries(iconNames.map((name) => [name, draw(icons[name]!.body)])) as Record<IconName, Html>

/** As large as its text, and in its colour. Nothing reads it aloud: the text beside it says the same. */
export const icon = (name: IconName): Html => drawn[name]
