import { inflateSync } from 'node:zlib'
import type { Pixels, Size } from './pixels.ts'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
/** The chunks that pixels are made of. All others, and all that comes after the end, are left out. */
const KEPT = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']
/** Samples of a pixel, by colour type. */
const SAMPLES: Partial<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
/** An interlaced picture's passes: first column and row, and the steps to the next ones. */
const ADAM7 = ['0 0 8 8', '4 0 8 8', '0 4 4 8', '2 0 4 4', '0 2 2 4', '1 0 2 2', '0 1 1 2'].map((pass) =>
  pass.split(' ').map(Number),
) as [number, number, number, number][]

export const isPng = (bytes: Buffer) => bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)

/** The size that the header says. Throws where it is cut off. */
export const pngSize = (bytes: Buffer): Size => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) })

/** Decodes a PNG whose size was looked at. Throws for one that is cut off or damaged. */
export async function decodePng(bytes: Buffer): Promise<Pixels> {
  const chunks = readChunks(bytes)
  const data = Buffer.concat(chunks.flatMap(({ type, data }) => (type === 'IDAT' ? [data] : [])))
  const expected = inflatedBytes(bytes)
  // pngjs inflates interlaced pictures without a bound.
  if (inflateSync(data, { maxOutputLength: expected }).length !== expected) throw new Error('Pixels are missing.')
  const { PNG } = await import('pngjs')
  return PNG.sync.read(Buffer.concat([SIGNATURE, ...chunks.map(({ whole }) => whole)]))
}

function readChunks(bytes: Buffer) {
  const chunks: { type: string; data: Buffer; whole: Buffer }[] = []
  for (let at = SIGNATURE.length; chunks.at(-1)?.type !== 'IEND'; ) {
    const end = at + 12 + bytes.readUInt32BE(at)
    if (end > bytes.length) throw new RangeError('A chunk is cut off.')
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (KEPT.includes(type))
      chunks.push({ type, data: bytes.subarray(at + 8, end - 4), whole: bytes.subarray(at, end) })
    at = end
  }
  return chunks
}

/** What the pixels take once they are inflated: each line has a byte for its filter. */
function inflatedBytes(bytes: Buffer): number {
  const { width, height } = pngSize(bytes)
  const samples = SAMPLES[bytes[25]!]
  if (!samples) throw new Error('There is no such colour type.')
  const bits = samples * bytes[24]!
  const passes = bytes[28] === 0 ? [[0, 0, 1, 1] as const] : ADAM7
  return passes.reduce((sum, [x, y, dx, dy]) => {
    const [columns, lines] = [Math.ceil((width - x) / dx), Math.ceil((height - y) / dy)]
    return columns > 0 && lines > 0 ? sum + lines * (1 + Math.ceil((columns * bits) / 8)) : sum
  }, 0)
}
