import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ColourName } from '../../server/browser/look/colours.ts'
import { colourRules, colours, readColour } from '../../server/browser/look/colours.ts'
import { icon } from '../../server/browser/look/icons/icon.ts'
import { iconNames } from '../../server/browser/look/icons/icon-names.ts'

function luminance(colour: string) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
}

/** WCAG 2.2, 1.4.3. */
function contrast(one: string, other: string) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high! + 0.05) / (low! + 0.05)
}

/** Each colour with those it is read on, or beside. */
const texts = {
  ink: ['ground', 'card', 'wash'],
  soft: ['ground', 'card', 'wash', 'good-wash', 'pending-wash', 'alert-wash'],
  accent: ['ground', 'card', 'wash'],
  'on-accent': ['accent'],
  good: ['card', 'wash', 'good-wash'],
  pending: ['card', 'wash', 'pending-wash'],
  alert: ['card', 'wash', 'alert-wash'],
  'on-alert': ['alert'],
  'code-comment': ['wash'],
  'code-keyword': ['wash'],
  'code-string': ['wash'],
  'code-constant': ['wash'],
  'code-function': ['wash'],
  'code-type': ['wash'],
  'verb-get': ['ground', 'card', 'wash'],
  'verb-post': ['ground', 'card', 'wash'],
  'verb-put': ['ground', 'card', 'wash'],
  'verb-delete': ['ground', 'card', 'wash'],
} as const
const edges = { edge: ['ground', 'card', 'wash'] } as const
const pairs = (of: Partial<Record<ColourName, readonly ColourName[]>>, least: number) =>
  Object.entries(of).flatMap(([one, others]) => others.map((other) => [one as ColourName, other, least] as const))

describe('the colours', () => {
  it.each([...pairs(texts, 4.5), ...pairs(edges, 3)])(
    '%s on %s has a contrast of %s, light and dark',
    (one, other, least) => {
      for (const theme of ['light', 'dark'] as const) {
        expect(contrast(readColour(one, theme), readColour(other, theme)), theme).toBeGreaterThanOrEqual(least)
      }
    },
  )

  it("are declared for the system's theme and for a chosen one", () => {
    for (const name of Object.keys(colours) as ColourName[]) {
      const declared = [...colourRules.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6});`, 'g'))].map(
        ([, value]) => value,
      )
      const dark = readColour(name, 'dark')
      expect(declared, name).toEqual([readColour(name, 'light'), dark, dark])
    }
  })
})

describe('the icons', () => {
  it.each(iconNames)('%s is a small drawing that takes its colour from the text and is read by nobody', (name) => {
    const { text } = icon(name)
    expect(text).toMatch(/^<svg class="lucide" viewBox="0 0 24 24" aria-hidden="true" [^>]*stroke="currentColor"/)
    expect(text).not.toMatch(/\bid=|<title|<style|<script|\bhref=|\bstyle=/)
    expect(text.length).toBeLessThan(600)
  })

  it('are those that pages use', () => {
    const server = join(import.meta.dirname, '../../server')
    const sources = readdirSync(server, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('icon-names.ts'))
      .map((path) => readFileSync(join(server, path), 'utf8'))
      .join('')
    expect(iconNames.filter((name) => !sources.includes(`'${name}'`))).toEqual([])
  })
})
