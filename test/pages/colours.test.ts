import { describe, expect, it } from 'vitest'
import { styleSheet } from '../../server/browser/pages/style-sheet.ts'

describe('the colours', () => {
  const [light, dark] = styleSheet.split('@media (prefers-color-scheme: dark)').map((part) => {
    const declared = [...part.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)]
    return Object.fromEntries(declared.map(([, name, colour]) => [name!, colour!]))
  })
  const luminance = (colour: string) => {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  const contrast = (one: string, other: string) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
    return (high! + 0.05) / (low! + 0.05)
  }
  const texts = ['ink card', 'ink wash', 'soft card', 'soft wash', 'soft ground', 'accent card', 'accent wash']
  const pairs = [...texts, 'on-accent accent', 'alert alert-wash'].map((pair) => [pair, 4.5] as const)
  const edges = ['edge card', 'accent ground', 'alert card'].map((pair) => [pair, 3] as const)

  it.each([...pairs, ...edges])('of %s have enough contrast, light and dark', (pair, least) => {
    const [one, other] = pair.split(' ')
    for (const theme of [light!, dark!]) expect(contrast(theme[one!]!, theme[other!]!)).toBeGreaterThanOrEqual(least)
  })
})
