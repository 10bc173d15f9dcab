import { crc32, deflateSync, inflateSync } from 'node:zlib'

const PIXEL = 3
const SIGNATURE = 8

/** Each pixel's colour, row by row. For Chromium's screenshots: 8 bits, RGB, not interlaced. */
function decode(png: Buffer) {
  const data: Buffer[] = []
  let [width, height] = [0, 0]
  for (let at = SIGNATURE; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const type = png.toString('latin1', at + 4, at + 8)
    const body = png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
    if (type === 'IHDR') {
      width = body.readUInt32BE(0)
      height = body.readUInt32BE(4)
      if (body[8] !== 8 || body[9] !== 2 || body[12] !== 0) throw new Error('Not a picture as Chromium takes it.')
    }
    if (type === 'IDAT') data.push(body)
  }
  const filtered = inflateSync(Buffer.concat(data))
  const row = width * PIXEL
  const bytes = Buffer.alloc(row * height)
  for (let y = 0; y < height; y++) {
    const filter = filtered[y * (row + 1)]!
    for (let x = 0; x < row; x++) {
      const at = y * row + x
      const left = x < PIXEL ? 0 : bytes[at - PIXEL]!
      const up = y === 0 ? 0 : bytes[at - row]!
      const corner = x < PIXEL || y === 0 ? 0 : bytes[at - row - PIXEL]!
      bytes[at] = filtered[y * (row + 1) + 1 + x]! + [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter]!
    }
  }
  return {
    width,
    height,
    colours: Array.from({ length: width * height }, (_, at) => bytes.readUIntBE(at * PIXEL, PIXEL)),
  }
}

function paeth(left: number, up: number, corner: number) {
  const guess = left + up - corner
  return [left, up, corner].reduce((best, one) => (Math.abs(guess - one) < Math.abs(guess - best) ? one : best))
}

function chunk(type: string, body: Buffer) {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), body])
  const out = Buffer.alloc(typed.length + 8)
  out.writeUInt32BE(body.length, 0)
  typed.copy(out, 4)
  out.writeUInt32BE(crc32(typed), typed.length + 4)
  return out
}

const distance = (one: number, other: number) =>
  [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0)

/** The image with its most frequent colours only, others replaced by the nearest: a third of the size. */
export function smallPng(png: Buffer, size = 48): Buffer {
  const { width, height, colours } = decode(png)
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const palette = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, size)
    .map(([colour]) => colour)
  const nearest = (colour: number) =>
    palette.reduce((best, one, at) => (distance(one, colour) < distance(palette[best]!, colour) ? at : best), 0)
  const indexes = new Map([...counts.keys()].map((colour) => [colour, nearest(colour)]))

  const rows = Buffer.alloc((width + 1) * height)
  for (const [at, colour] of colours.entries()) {
    rows[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = indexes.get(colour)!
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3], 8)
  const table = Buffer.alloc(palette.length * PIXEL)
  for (const [at, colour] of palette.entries()) table.writeUIntBE(colour, at * PIXEL, PIXEL)
  return Buffer.concat([
    png.subarray(0, SIGNATURE),
    chunk('IHDR', header),
    chunk('PLTE', table),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
