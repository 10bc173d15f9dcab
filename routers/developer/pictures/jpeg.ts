import type { Pixels, Size } from './pixels.ts'

const [SOI, SOS, EOI] = [0xd8, 0xda, 0xd9]
/** Frames that the decoder knows: baseline, extended, progressive. */
const FRAMES = [0xc0, 0xc1, 0xc2]
/**
 * A progressive picture comes in scans, about 10; each goes over all pixels, also one of a few bytes: a file of 128 KiB has space
 * for thousands.
 */
const MAX_SCANS = 32
/** Twice what 512 × 512 pixels of four colours take. */
const MEMORY_MB = 32

export const isJpeg = (bytes: Buffer) => bytes[0] === 0xff && bytes[1] === SOI && bytes[2] === 0xff

/** The size in the frame header. Throws if no frame header precedes the pixels. */
export function jpegSize(bytes: Buffer): Size {
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) throw new Error('There is no marker.')
    const marker = bytes.readUInt8(at + 1)
    if (FRAMES.includes(marker)) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    if (marker === SOS || marker === EOI) throw new Error('There is no frame.')
    // Fill bytes may be before a marker.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2)
  }
}

/** Decodes a JPEG whose size was looked at. Throws for one that is cut off or damaged. */
export async function decodeJpeg(bytes: Buffer): Promise<Pixels> {
  // Within the pixels' own bytes, 0xff is followed by 0.
  if (bytes.toString('latin1').split('\xff\xda').length - 1 > MAX_SCANS) throw new Error('It has too many scans.')
  const { default: jpeg } = await import('jpeg-js')
  const { width, height } = jpegSize(bytes)
  const pixels = jpeg.decode(bytes, {
    tolerantDecoding: false,
    maxResolutionInMP: (width * height + 1) / 1e6,
    maxMemoryUsageInMB: MEMORY_MB,
  })
  // The decoder takes the last of several frames.
  if (pixels.width !== width || pixels.height !== height) throw new Error('The frames differ.')
  return pixels
}
