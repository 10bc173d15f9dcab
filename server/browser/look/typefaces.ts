import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { computeTag, isRevalidated } from '../../http/revalidation.ts'
import type { StepContext } from '../../http/state.ts'
import type { Html } from '../pages/html.ts'
import { html } from '../pages/html.ts'
import { setPageHeaders } from '../send-page.ts'
import { onlyGet } from '../stored-file.ts'

interface Typeface {
  family: string
  weights: string
  /** Its file, with the version in its name. */
  name: string
  bytes: Buffer
}

/** In the bundle beside the module, where the build copies it; else in its package. */
function readFont(font: string, file: string): Buffer {
  const beside = new URL(file, import.meta.url)
  const require = createRequire(import.meta.url)
  return readFileSync(existsSync(beside) ? beside : require.resolve(`@fontsource-variable/${font}/files/${file}`))
}

function typeface(family: string, font: string, weights: string): Typeface {
  const bytes = readFont(font, `${font}-latin-wght-normal.woff2`)
  return { family, weights, bytes, name: `${font}-${computeTag(bytes).slice(0, 8)}.woff2` }
}

/** The Latin subsets, in all weights. Other scripts have the system's fonts. */
const typefaces = [
  typeface('Inter', 'inter', '100 900'),
  typeface('JetBrains Mono', 'jetbrains-mono', '100 800'),
] as const

/** For a sheet at `./style.css`, whose fonts are at `./fonts/`. */
export const typefaceRules = typefaces
  .map(
    ({ family, weights, name }) =>
      `@font-face { font-family: '${family}'; font-style: normal; font-display: swap; font-weight: ${weights}; src: url(fonts/${name}) format('woff2'); }\n`,
  )
  .join('')

/** Loads the text's typeface before the sheet that names it; `base` is the directory of the sheet. */
export const preloadTypeface = (base: string): Html =>
  html`<link rel="preload" href="${base}/fonts/${typefaces[0].name}" as="font" type="font/woff2" crossorigin>`

const FONTS = '/fonts/'

/** The typeface at an address, `base` being the directory of the sheet; undefined if there is none. */
export const typefaceAt = (path: string, base: string) =>
  path.startsWith(base + FONTS) ? typefaces.find(({ name }) => path === base + FONTS + name) : undefined

export function sendTypeface(ctx: StepContext, { name, bytes }: Typeface) {
  ctx.state.operation = 'look'
  ctx.state.address = FONTS + name
  onlyGet(ctx)
  setPageHeaders(ctx)
  if (isRevalidated(ctx, `"${name}"`, 'public, max-age=31536000, immutable')) return
  ctx.type = 'font/woff2'
  ctx.body = bytes
}
