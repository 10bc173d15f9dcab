import { describe, expect, it } from 'vitest'
import { numberParameters } from '../../prisma/pg/named-parameters.ts'

describe('named parameters', () => {
  it('are numbered as they are declared, wherever they are used', () => {
    expect(numberParameters('SELECT $b, $a, $b WHERE c = ANY ($a)', ['a', 'b'])).toBe(
      'SELECT $2, $1, $2 WHERE c = ANY ($1)',
    )
  })

  it('end where their name ends', () => {
    expect(numberParameters('SELECT $now::timestamptz, $now_2, x[$now:$now_2]', ['now', 'now_2'])).toBe(
      'SELECT $1::timestamptz, $2, x[$1:$2]',
    )
  })

  it.each([
    ['a string', `SELECT '$a '' $a' || `],
    ['an escaped string', String.raw`SELECT E'\'$a' || `],
    ['an identifier', 'SELECT "$a "" $a" || '],
    ['a comment to the end of the line', 'SELECT -- it is $a\n'],
    ['a comment', 'SELECT /* $a\n $a */ '],
    ['a dollar-quoted body', 'SELECT $$ $a $$ || '],
    ['a tagged body', 'SELECT $body$ $a $$ $body$ || '],
    ['a cast of a JSON path', `SELECT '$.a'::jsonpath || `],
  ])('are left alone in %s', (_, before) => {
    expect(numberParameters(`${before}$a`, ['a'])).toBe(`${before}$1`)
  })

  it.each(['$b', '$1', '$a_'])('%s is refused where it is not declared', (parameter) => {
    expect(() => numberParameters(`SELECT $a, ${parameter}`, ['a'])).toThrow(
      `The parameter ${parameter} is not declared.`,
    )
  })

  it('are refused where they are declared and not used', () => {
    expect(() => numberParameters(`SELECT $a, '$b'`, ['a', 'b'])).toThrow('The parameter b is declared, but not used.')
  })
})
