export interface Size {
  width: number
  height: number
}

/** A decoded picture: a byte each for red, green, blue and opacity, line by line. */
export interface Pixels extends Size {
  data: Buffer
}

/** The same picture at half its width and height: each pixel is the mean of four, weighed by their opacity. */
export function halved({ width, height, data }: Pixels): Pixels {
  const half = { width: Math.ceil(width / 2), height: Math.ceil(height / 2) }
  const result = Buffer.alloc(half.width * half.height * 4)
  for (let y = 0, to = 0; y < half.height; y++) {
    for (let x = 0; x < half.width; x++, to += 4) {
      const [left, right] = [2 * x, Math.min(2 * x + 1, width - 1)]
      const [above, below] = [2 * y * width, Math.min(2 * y + 1, height - 1) * width]
      const four = [above + left, above + right, below + left, below + right].map((pixel) => pixel * 4)
      const opacity = four.reduce((sum, at) => sum + data[at + 3]!, 0)
      for (let sample = 0; sample < 3; sample++) {
        const sum = four.reduce((sum, at) => sum + data[at + sample]! * data[at + 3]!, 0)
        result[to + sample] = opacity === 0 ? 0 : Math.round(sum / opacity)
      }
      result[to + 3] = Math.round(opacity / 4)
    }
  }
  return { ...half, data: result }
}

export function isOpaque({ data }: Pixels): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return false
  return true
}
