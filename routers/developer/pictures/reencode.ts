import type { Fault } from '../shared/validation.ts'
import { fault, formatSentence } from '../shared/validation.ts'
import { decodeJpeg, isJpeg, jpegSize } from './jpeg.ts'
import type { Pixels, Size } from './pixels.ts'
import { halved, isOpaque } from './pixels.ts'
import { decodePng, isPng, pngSize } from './png.ts'

export const MAX_PICTURE_BYTES = 128 * 1024
export const pictureTooLarge = fault('picture', 'pictureTooLarge')
const MAX_SIDE = 512
/** Above it, a picture is kept at half its width: pages show it in 48 × 48 pixels, and a photograph takes 400 KiB as PNG. */
const MAX_WRITTEN_BYTES = 256 * 1024

/** Why a picture is not taken. */
export class PictureRefused extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(formatSentence(fault))
    this.fault = fault
  }
}

/** Re-encodes a square PNG or JPEG as PNG: its pixels are kept, and nothing else of the file. Throws `PictureRefused`. */
export async function rewritten(bytes: Buffer): Promise<Buffer> {
  if (bytes.length > MAX_PICTURE_BYTES) throw new PictureRefused(pictureTooLarge)
  const format = [png, jpeg].find(({ is }) => is(bytes))
  if (!format) throw new PictureRefused(fault('picture', 'pictureFormat'))
  const { width, height } = readable(() => format.size(bytes))
  // Before decoding: a picture of a few bytes may say that it is huge.
  if (width !== height || width < 1 || width > MAX_SIDE) {
    throw new PictureRefused(fault('picture', 'pictureSize', String(width), String(height)))
  }
  const pixels = await format.decode(bytes).catch(unreadable)
  const written = await encode(pixels)
  return written.length > MAX_WRITTEN_BYTES ? encode(halved(pixels)) : written
}

interface Format {
  is: (bytes: Buffer) => boolean
  size: (bytes: Buffer) => Size
  decode: (bytes: Buffer) => Promise<Pixels>
}
const png: Format = { is: isPng, size: pngSize, decode: decodePng }
const jpeg: Format = { is: isJpeg, size: jpegSize, decode: decodeJpeg }

export const UNREADABLE = fault('picture', 'pictureUnreadable')
function unreadable(): never {
  throw new PictureRefused(UNREADABLE)
}

function readable<Result>(read: () => Result): Result {
  try {
    return read()
  } catch {
    return unreadable()
  }
}

const [RGB, RGB_AND_OPACITY] = [2, 6] as const

async function encode(pixels: Pixels): Promise<Buffer> {
  const { PNG } = await import('pngjs')
  const picture = new PNG({ width: pixels.width, height: pixels.height })
  pixels.data.copy(picture.data)
  const colorType = isOpaque(pixels) ? RGB : RGB_AND_OPACITY
  return PNG.sync.write(picture, { colorType, inputColorType: RGB_AND_OPACITY })
}
