import type { Visit } from '../visit.ts'
import type { Field } from './fields.ts'
import { area, choice, field, upload } from './fields.ts'

export type Form = ReturnType<typeof formOf>

/**
 * The fields of one form of a page, by the last segment of its address. After a refusal they have what was typed, and those at
 * fault their problem; the first of these gets the focus.
 */
export function formOf({ refused }: Visit, action: string) {
  const { form: typed, problems = [] } = refused?.action === action ? refused : {}
  let isFirst = true
  const problemOf = (name: string) => {
    const texts = problems.filter((problem) => problem.name === name).map(({ text }) => text)
    if (texts.length === 0) return undefined
    const focus = isFirst
    isFirst = false
    return { texts, focus }
  }
  const filled = (given: Field): Field => ({
    ...given,
    value: typed?.get(given.name) ?? given.value,
    problem: problemOf(given.name),
  })
  return {
    typed,
    problemOf,
    field: (given: Field) => field(filled(given)),
    /** Never shows what was typed. */
    secret: (given: Field) => field({ ...given, problem: problemOf(given.name) }),
    area: (given: Field, rows: number) => area(filled(given), rows),
    choice: (given: Field, options: Parameters<typeof choice>[1]) => choice(filled(given), options),
    upload: (given: Parameters<typeof upload>[0]) => upload({ ...given, problem: problemOf(given.name) }),
  }
}
