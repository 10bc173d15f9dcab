import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { Step, StepContext } from '../http/state.ts'
import { loadWords } from './words/own-words.ts'
import type { AllWords } from './words/words.ts'
import { words as builtInWords } from './words/words.ts'

export type LogoType = 'image/png' | 'image/svg+xml'

export interface Logo {
  type: LogoType
  bytes: Buffer
  /** Changes with the image. */
  version: string
}

export interface Brand {
  name?: string | undefined
  logo?: Logo | undefined
  /** The texts of members' pages, some of them the operator's own. */
  words?: AllWords | undefined
}

const MAX_LOGO_BYTES = 32 * 1024

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
/** The root element, after a declaration, comments and a document type. */
const SVG =
  /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*(?:<!DOCTYPE[^>[]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/i

/** Reads the file signature; undefined for other types. */
function detectLogoType(bytes: Buffer): LogoType | undefined {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png'
  return SVG.test(bytes.toString('utf8')) ? 'image/svg+xml' : undefined
}

export const toLogo = (type: LogoType, bytes: Buffer): Logo => ({
  type,
  bytes,
  version: createHash('sha256').update(bytes).digest('hex').slice(0, 16),
})

/** For pages that may not load anything. */
export const toDataUrl = ({ type, bytes }: Logo) => `data:${type};base64,${bytes.toString('base64')}`

export function setBrand(ctx: Parameters<Step>[0], brand: Brand | undefined) {
  ctx.state.brand = brand
}

export const readBrand = (ctx: StepContext): Brand | undefined => ctx.state.brand

export const readWords = (ctx: StepContext): AllWords => readBrand(ctx)?.words ?? builtInWords

interface BrandSettings {
  name: string | undefined
  /** A file. */
  logo: string | undefined
  /** A directory. */
  words?: string | undefined
}

/** The operator's name, logo and texts for the pages. Throws a sentence for a file that cannot be used. */
export function loadBrand({ name, logo: file, words: directory }: BrandSettings): Brand & { words: AllWords } {
  const words = loadWords(directory)
  if (file === undefined) return { name, words }
  const refuse = (why: string) => new Error(`BRAND_LOGO cannot be used: ${file} ${why}.`)
  let bytes: Buffer
  try {
    // Checked first: a mistyped path may name a huge file.
    if (statSync(file).size > MAX_LOGO_BYTES) throw refuse(`is larger than ${MAX_LOGO_BYTES / 1024} KB`)
    bytes = readFileSync(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === undefined ? error : refuse(`cannot be read (${code})`)
  }
  const type = detectLogoType(bytes)
  if (!type) throw refuse('is neither a PNG nor an SVG')
  return { name, logo: toLogo(type, bytes), words }
}
