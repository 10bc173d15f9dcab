import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNamed, namedTags } from '../../routers/kernel/entity-tags.ts'
import { times } from '../support/rounds.ts'

const VERSION = '5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20'
const ETAG = `"${VERSION}"`

/** Fields, and whether each names the version by the strong and by the weak comparison (RFC 9110, 8.8.3 and 13.1). */
const table: [field: string, strong: boolean, weak: boolean][] = [
  [ETAG, true, true],
  [`W/${ETAG}`, false, true],
  ['*', true, true],
  ['"x"', false, false],
  ['W/"x"', false, false],
  [`"x", ${ETAG}`, true, true],
  [`"x",${ETAG}`, true, true],
  [`${ETAG},"x"`, true, true],
  [`"x" , ${ETAG} , "y"`, true, true],
  [`"x",\t${ETAG}`, true, true],
  [` ${ETAG} `, true, true],
  [`,${ETAG}`, true, true],
  [`${ETAG},`, true, true],
  [`, ,${ETAG}, ,`, true, true],
  [`"x", W/${ETAG}`, false, true],
  [`W/"x", ${ETAG}`, true, true],
  [`W/${ETAG}, ${ETAG}`, true, true],
  [`"a,b", ${ETAG}`, true, true],
  [`",", ${ETAG}`, true, true],
  [`"a, W/", ${ETAG}`, true, true],
  [`"W/", ${ETAG}`, true, true],
  [`"${VERSION}, x"`, false, false],
  [`"x, ${VERSION}"`, false, false],
  [`"", ${ETAG}`, true, true],
  [`"\\", ${ETAG}`, true, true],
  [`"\xff", ${ETAG}`, true, true],
  [`"a, b", ${ETAG}`, true, true],
  [`${ETAG}`.toUpperCase(), false, false],
  ['"*"', false, false],
  // No list of tags: none is named.
  ['', false, false],
  [',', false, false],
  [VERSION, false, false],
  [`'${VERSION}'`, false, false],
  [`"${VERSION}`, false, false],
  [`${VERSION}"`, false, false],
  [`w/${ETAG}`, false, false],
  [`W/ ${ETAG}`, false, false],
  [`W${ETAG}`, false, false],
  [`*, ${ETAG}`, false, false],
  [`${ETAG}, *`, false, false],
  ['W/*', false, false],
  [`${ETAG} "x"`, false, false],
  [`"x" ${ETAG}`, false, false],
  [`${ETAG}; "x"`, false, false],
  [`x, ${ETAG}`, false, false],
  [`"\0", ${ETAG}`, false, false],
  [`"\ud800", ${ETAG}`, false, false],
]

describe('a precondition', () => {
  it.each(table)('%j names the version: %s by the strong, %s by the weak comparison', (field, strong, weak) => {
    expect([isNamed(ETAG, field, 'strong'), isNamed(ETAG, field, 'weak')]).toEqual([strong, weak])
  })

  it('names what has no ETag by * alone', () => {
    expect([isNamed(undefined, '*', 'weak'), isNamed(undefined, '""', 'weak')]).toEqual([true, false])
  })

  it('names the tags of any list, however it is written', () => {
    const tag = fc.string({ unit: fc.constantFrom(...'ab*,;/W\\\xe4!# '), maxLength: 4 })
    const element = fc.option(fc.record({ tag, weak: fc.boolean() }), { nil: undefined })
    const space = fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 2 })
    const list = fc.array(fc.tuple(space, element, space), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(list, (elements) => {
        const texts = elements.map(
          ([before, one, after]) => `${before}${one ? `${one.weak ? 'W/' : ''}"${one.tag}"` : ''}${after}`,
        )
        const given = elements.flatMap(([, one]) => one ?? [])
        const field = texts.join(',')
        expect(namedTags(field, 'weak')).toEqual(given.map((one) => one.tag))
        expect(namedTags(field, 'strong')).toEqual(given.filter((one) => !one.weak).map((one) => one.tag))
        // A piece that is no tag spoils the list.
        expect(namedTags(`${field},x`, 'weak')).toEqual([])
      }),
      { numRuns: times(20_000, 500) },
    )
  })

  it('is read once from end to end, however long', () => {
    const long = 200_000
    for (const field of [
      `"x"${' '.repeat(long)}y`,
      `,${' '.repeat(long)}y`,
      `"${'x'.repeat(long)}`,
      'W/'.repeat(long),
      '"x" '.repeat(long),
    ]) {
      expect(namedTags(field, 'weak')).toEqual([])
    }
    expect(namedTags('"x",'.repeat(long), 'weak')).toHaveLength(long)
  })
})
