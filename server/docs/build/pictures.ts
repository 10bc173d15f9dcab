import { createHash } from 'node:crypto'

export interface Picture {
  name: string
  width: number
  height: number
  hash: string
}

const PNG_WIDTH_AT = 16

/** Width and height keep the text in its place while the picture loads. */
export function readPicture(name: string, bytes: Buffer): Picture {
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 20)
  if (name.endsWith('.png')) {
    return { name, hash, width: bytes.readUInt32BE(PNG_WIDTH_AT), height: bytes.readUInt32BE(PNG_WIDTH_AT + 4) }
  }
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(bytes.toString('utf8')) ?? []
  if (!width || !height) throw new Error(`${name} has no size.`)
  return { name, hash, width: Number(width), height: Number(height) }
}
