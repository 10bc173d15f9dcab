import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { computeTag } from '../../http/revalidation.ts'
import type { Html } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import type { LookFile } from './look-file.ts'

interface Typeface extends LookFile {
  family: string
  weights: string
}

/** In the bundle beside the module, where the build copies it; else in its package. */
function readFont(font: string, file: string): Buffer {
  const beside = new URL(file, import.meta.url)
  const require = createRequire(import.meta.url)
  return readFileSync(existsSync(beside) ? beside : require.resolve(`@fontsource-variable/${font}/files/${file}`))
}

function typeface(family: string, font: string, weights: string): Typeface {
  const bytes = readFont(font, `${font}-latin-wght-normal.woff2`)
  const place = `/fonts/${font}-${computeTag(bytes).slice(0, 8)}.woff2`
  return { family, weights, bytes, place, type: 'font/woff2' }
}

/** The Latin subsets, in all weights. Other scripts have the system's fonts. */
export const typefaces = [
  typeface('Inter', 'inter', '100 900'),
  typeface('JetBrains Mono', 'jetbrains-mono', '100 800'),
] as const

/** For a sheet at `./style.css`, whose fonts are at `./fonts/`. */
export const typefaceRules = typefaces
  .map(
    ({ family, weights, place }) =>
      `@font-face { font-family: '${family}'; font-style: normal; font-display: swap; font-weight: ${weights}; src: url(${place.slice(1)}) format('woff2'); }\n`,
  )
  .join('')

/** Loads the text's typeface before the sheet that names it; `base` is the directory of the sheet. */
export const preloadTypeface = (base: string): Html =>
  html`<link rel="preload" href="${base}${typefaces[0].place}" as="font" type="font/woff2" crossorigin>`
