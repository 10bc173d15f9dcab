import { createHash } from 'node:crypto'
import type { Step, StepContext } from '../http/state.ts'

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
}

export const MAX_LOGO_BYTES = 32 * 1024

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
/** The root element, after a declaration, comments and a document type. */
const SVG =
  /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*(?:<!DOCTYPE[^>[]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/i

/** Reads the file signature; undefined for other types. */
export function detectLogoType(bytes: Buffer): LogoType | undefined {
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
