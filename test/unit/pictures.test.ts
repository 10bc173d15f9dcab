import { deflateSync } from 'node:zlib'
import jpeg from 'jpeg-js'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { PictureRefused, rewritten } from '../../routers/developer/pictures/reencode.ts'
import { fault } from '../../routers/developer/shared/validation.ts'
import { encodeChunk, encodeJpeg, encodePng, makePixels, withHeader } from '../support/pictures.ts'

const pixels = makePixels(64, { opaque: false })
const png = encodePng(pixels)
const photo = encodeJpeg(makePixels(64))
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const damaged = fault('picture', 'pictureUnreadable')
const unknown = fault('picture', 'pictureFormat')
const noise = (bytes: number) => Buffer.from(Array.from({ length: bytes }, (_, at) => (at * at * 2654435761) >>> 13))
const listTypes = (written: Buffer) => {
  const types: string[] = []
  for (let at = 8; at < written.length; at += 12 + written.readUInt32BE(at))
    types.push(written.toString('latin1', at + 4, at + 8))
  return types
}

describe('a PNG', () => {
  it.each([1, 64, 512])('of %d pixels a side keeps each pixel', async (side) => {
    const own = makePixels(side, { opaque: false })
    const read = PNG.sync.read(await rewritten(encodePng(own)))
    expect([read.width, read.height, read.data.equals(own.data)]).toEqual([side, side, true])
  })

  it('that is interlaced keeps each pixel', async () => {
    // With 1 × 1 pixel only the first of the seven passes has a line, with 2 × 2 pixels the first, sixth and seventh.
    const lines = Buffer.from('000102030400050607080009101112131415160'.slice(0, 38), 'hex')
    const body = [encodeChunk('IDAT', deflateSync(lines)), encodeChunk('IEND', Buffer.alloc(0))]
    const interlaced = Buffer.concat([
      withHeader(png, { width: 2, height: 2, rest: '0806000001' }).subarray(0, 33),
      ...body,
    ])
    const read = PNG.sync.read(await rewritten(interlaced))
    expect(read.data.toString('hex')).toBe('01020304050607080910111213141516')
  })

  it('is written without comments, colour profiles, and what comes after its end', async () => {
    const more = [encodeChunk('tEXt', Buffer.from('Author\0secret')), encodeChunk('eXIf', Buffer.from('secret'))]
    const odd = Buffer.concat([png.subarray(0, 33), ...more, png.subarray(33), Buffer.from(`secret${svg}`)])
    const written = await rewritten(odd)
    expect(listTypes(written)).toEqual(['IHDR', 'IDAT', 'IEND'])
    expect(written.includes('secret')).toBe(false)
    expect(PNG.sync.read(written).data.equals(pixels.data)).toBe(true)
  })

  it.each([
    ['20000 × 20000', withHeader(png, { width: 20_000, height: 20_000 }), 'this one has 20000 × 20000.'],
    ['513 × 513', withHeader(png, { width: 513, height: 513 }), 'this one has 513 × 513.'],
    ['64 × 32', withHeader(png, { height: 32 }), 'this one has 64 × 32.'],
    ['0 × 0', withHeader(png, { width: 0, height: 0 }), 'this one has 0 × 0.'],
  ])('of %s pixels is refused by its header', async (_, bytes, message) => {
    await expect(rewritten(bytes)).rejects.toThrow(message)
  })

  const zeros = (bytes: number) => encodeChunk('IDAT', deflateSync(Buffer.alloc(bytes)))
  const makeBomb = (rest: string, data: Buffer) =>
    Buffer.concat([withHeader(png, { rest }).subarray(0, 33), data, encodeChunk('IEND', Buffer.alloc(0))])
  it.each([
    ['cut off in its pixels', png.subarray(0, png.length - 40)],
    ['cut off in its header', png.subarray(0, 20)],
    ['without an end', png.subarray(0, png.length - 12)],
    ['with a wrong checksum', Buffer.concat([png.subarray(0, 40), Buffer.of(png[40]! ^ 1), png.subarray(41)])],
    ['with more pixels than it says', makeBomb('0806000000', zeros(64 * 257 + 1))],
    ['with fewer pixels than it says', makeBomb('0806000000', zeros(64 * 257 - 1))],
    ['with 100 MB of interlaced pixels', makeBomb('0806000001', zeros(100_000_000))],
    ['of no colour type', makeBomb('0805000000', zeros(100))],
    ['with a palette that is not there', makeBomb('0803000000', zeros(64 * 65))],
  ])('%s is refused', async (_, bytes) => {
    await expect(rewritten(bytes)).rejects.toThrow(new PictureRefused(damaged))
  })
})

describe('a JPEG', () => {
  it('becomes a PNG of the pixels that it decodes to', async () => {
    const read = PNG.sync.read(await rewritten(photo))
    expect(read.data.equals(jpeg.decode(photo).data)).toBe(true)
  })

  it('loses comments and what comes after its end', async () => {
    const odd = [
      photo.subarray(0, 2),
      Buffer.from('fffe0008', 'hex'),
      Buffer.from('secret'),
      photo.subarray(2),
      Buffer.from('secret'),
    ]
    const written = await rewritten(Buffer.concat(odd))
    expect(listTypes(written)).toEqual(['IHDR', 'IDAT', 'IEND'])
    expect(written.includes('secret')).toBe(false)
  })

  const frame = photo.indexOf(Buffer.from('ffc0', 'hex'))
  const sized = (width: number, height: number) => {
    const bytes = Buffer.from(photo)
    bytes.writeUInt16BE(height, frame + 5)
    bytes.writeUInt16BE(width, frame + 7)
    return bytes
  }
  it('of 20000 × 20000 pixels is refused by its header', async () => {
    await expect(rewritten(sized(20_000, 20_000))).rejects.toThrow('this one has 20000 × 20000.')
  })

  const scan = photo.indexOf(Buffer.from('ffda', 'hex'))
  const second = sized(20_000, 20_000).subarray(frame, frame + 2 + photo.readUInt16BE(frame + 2))
  it.each([
    ['cut off in its pixels', photo.subarray(0, photo.length >> 1)],
    ['cut off in its header', photo.subarray(0, frame + 4)],
    ['with pixels before its frame', Buffer.concat([photo.subarray(0, 2), photo.subarray(scan)])],
    ['with a second, larger frame', Buffer.concat([photo.subarray(0, scan), second, photo.subarray(scan)])],
    [
      'with 40 scans',
      Buffer.concat([photo.subarray(0, -2), ...Array(40).fill(photo.subarray(scan, -2)), photo.subarray(-2)]),
    ],
  ])('%s is refused', async (_, bytes) => {
    await expect(rewritten(bytes)).rejects.toThrow(new PictureRefused(damaged))
  })
})

describe('a file', () => {
  it.each([
    ['an SVG', Buffer.from(svg)],
    ['a GIF', Buffer.from('GIF89a\x01\0\x01\0')],
    ['empty', Buffer.alloc(0)],
    ['a PNG after other bytes', Buffer.concat([Buffer.from('<html>'), png])],
  ])('that is %s is refused', async (_, bytes) => {
    await expect(rewritten(bytes)).rejects.toThrow(new PictureRefused(unknown))
  })

  it('above 128 KiB is refused', async () => {
    const bytes = Buffer.concat([png, Buffer.alloc(128 * 1024 + 1 - png.length)])
    await expect(rewritten(bytes)).rejects.toThrow(new PictureRefused(fault('picture', 'pictureTooLarge')))
    expect((await rewritten(bytes.subarray(0, -1))).length).toBeGreaterThan(100)
  })

  it('that would take more than 256 KiB as PNG is kept at half its width', async () => {
    const loud = encodeJpeg({ width: 512, height: 512, data: noise(512 * 512 * 4) }, 20)
    expect(loud.length).toBeLessThan(128 * 1024)
    const written = await rewritten(loud)
    expect(written.length).toBeLessThan(264 * 1024)
    const [full, half] = [jpeg.decode(loud), PNG.sync.read(written)]
    expect([half.width, half.height]).toEqual([256, 256])
    const mean = (sample: number) =>
      Math.round([0, 4, 512 * 4, 513 * 4].reduce((sum, at) => sum + full.data[at + sample]!, 0) / 4)
    expect([...half.data.subarray(0, 4)]).toEqual([mean(0), mean(1), mean(2), 255])
  })
})
