import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'

/** The colours of a picture of ours, by pixel; with opacity where asked for. */
export function makePixels(side: number, { opaque = true } = {}) {
  const data = Buffer.alloc(side * side * 4)
  for (let y = 0, at = 0; y < side; y++) {
    for (let x = 0; x < side; x++, at += 4) {
      data.set([(x * 255) / side, (y * 255) / side, x > y ? 200 : 40, opaque ? 255 : 60 + (x % 190)], at)
    }
  }
  return { width: side, height: side, data }
}

export function encodePng(pixels: ReturnType<typeof makePixels>, options: object = {}): Buffer {
  const picture = new PNG({ width: pixels.width, height: pixels.height })
  pixels.data.copy(picture.data)
  return PNG.sync.write(picture, options)
}

export const encodeJpeg = (pixels: ReturnType<typeof makePixels>, quality = 90): Buffer =>
  jpeg.encode(pixels, quality).data

/** A chunk of a PNG, with a checksum that is right. */
export function encodeChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length)
  chunk.writeUInt32BE(data.length, 0)
  chunk.write(type, 4, 'latin1')
  data.copy(chunk, 8)
  chunk.writeInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length)
  return chunk
}

/** zlib.crc32 comes with Node 20.15 and its types later. */
function crc32(bytes: Buffer) {
  let sum = -1
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  return ~sum
}

/** A PNG with another header: width, height, and how its pixels are written. */
export function withHeader(
  png: Buffer,
  { width = png.readUInt32BE(16), height = png.readUInt32BE(20), rest = '0806000000' },
) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.write(rest, 8, 'hex')
  return Buffer.concat([png.subarray(0, 8), encodeChunk('IHDR', header), png.subarray(33)])
}
