import { readFileSync } from 'node:fs'
import { computeTag } from '../../http/revalidation.ts'
import type { PortalLanguage } from '../language.ts'
import type { Html } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import type { LookFile } from './look-file.ts'

/** The build copies the file. */
const bytes = readFileSync(new URL('theme.js', import.meta.url))

export const themeFile: LookFile = {
  place: `/theme/${computeTag(bytes).slice(0, 8)}.js`,
  type: 'text/javascript; charset=utf-8',
  bytes,
}

const words: Record<PortalLanguage, { system: string; light: string; dark: string }> = {
  en: { system: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' },
  de: { system: 'Farben: System', light: 'Farben: hell', dark: 'Farben: dunkel' },
}

/** Comes first in the head; `base` is the directory of the sheet. */
export function themeScript(base: string, language: PortalLanguage): Html {
  const { system, light, dark } = words[language]
  return html`<script src="${base}${themeFile.place}" data-system="${system}" data-light="${light}" data-dark="${dark}"></script>`
}
