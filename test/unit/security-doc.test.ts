import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { table } from '../support/markdown-table.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).map((path) => `test/${path}`)

/** The requirements of ASVS 5.0.0 in each section of a chapter, the first section first. */
const requirements: Record<number, readonly number[]> = {
  4: [5, 5, 2, 4],
  5: [1, 6, 3, 3],
  6: [3, 12, 8, 6, 8, 4, 2, 4],
  7: [3, 4, 2, 5, 3, 2],
  8: [4, 4, 3, 2],
  9: [3, 4],
  10: [2, 3, 5, 16, 5, 2, 3],
  16: [1, 5, 4, 3, 4],
}

const page = read('docs/security.md')
const chapters = page
  .split(/^## V/m)
  .slice(1)
  .map((text) => ({
    chapter: Number.parseInt(text, 10),
    rows: table<'Number' | 'Asks' | 'Here' | 'Test'>(/(?:^\|.*\n)+/m.exec(text)![0]),
  }))
const rows = chapters.flatMap((one) => one.rows)

/** `4.3.1`, or all of `4.3.1–4.3.2`. */
function numbersOf(text: string): string[] {
  const [first, last = first] = text.split('–')
  const section = first!.replace(/\d+$/, '')
  const [from, to] = [first!, last!].map((number) => Number(number.slice(section.length)))
  return Array.from({ length: to! - from! + 1 }, (_, at) => `${section}${from! + at}`)
}

describe('docs/security.md', () => {
  it.each(Object.entries(requirements))('has each requirement of chapter V%s once, in order', (chapter, counts) => {
    const all = counts.flatMap((count, at) => numbersOf(`${chapter}.${at + 1}.1–${chapter}.${at + 1}.${count}`))
    const found = chapters.find((one) => one.chapter === Number(chapter))
    expect(found?.rows.flatMap((row) => numbersOf(row.Number))).toEqual(all)
  })

  it('says of each whether it is held, and names a test where it is', () => {
    for (const { Number: number, Here, Test } of rows) {
      const [, state] = /^(held|documented|not held|operator|does not apply)\b/.exec(Here) ?? []
      expect([number, state]).toEqual([number, expect.any(String)])
      if (state === 'held') expect([number, Test]).toEqual([number, expect.stringMatching(/^test\//)])
      if (state === 'documented' || state === 'operator')
        expect([number, Here]).toEqual([number, expect.stringMatching(/\]\(/)])
    }
  })
})

describe.each(['docs/security.md', 'SECURITY.md'])('%s', (name) => {
  const text = read(name)

  it('names tests that there are', () => {
    const names = [...text.matchAll(/`(test\/[\w./*-]+)`/g)].map(([, path]) => path!)
    expect(names.length).toBeGreaterThan(20)
    const missing = names.filter((path) => {
      const pattern = new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`)
      return !files.some((file) => pattern.test(file))
    })
    expect(missing).toEqual([])
  })
})
