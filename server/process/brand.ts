import { readFileSync, statSync } from 'node:fs'
import type { Brand } from '../browser/brand.ts'
import { detectLogoType, MAX_LOGO_BYTES, toLogo } from '../browser/brand.ts'

/** The operator's name and logo for the pages. Throws a sentence for a file that cannot be used. */
export function readBrand({ name, logo: file }: { name: string | undefined; logo: string | undefined }): Brand {
  if (file === undefined) return { name }
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
  return { name, logo: toLogo(type, bytes) }
}
