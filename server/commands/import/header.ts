import type { FieldDescription } from '../../../routers/directory/record-types.ts'
import { FileFault } from './file-fault.ts'

const SEPARATORS = [',', ';', '\t', '|']
/** The separator itself is no part of the cell, unless it is in quotes. */
export const isSeparatorLine = ([first]: readonly string[]) => /^sep=.?$/i.test(first!)

/** The one that occurs most often in the first line with text, which no name of a field contains. */
export function separatorIn(text: string): string {
  const line = text.split(/[\r\n]/).find((one) => one.trim() !== '') ?? ''
  const counted = SEPARATORS.map((separator) => ({ separator, count: line.split(separator).length }))
  return counted.reduce((most, one) => (one.count > most.count ? one : most)).separator
}

/** A column without a name is undefined. */
export type Columns = readonly (FieldDescription | undefined)[]

export function matchColumns(line: number, cells: readonly string[], fields: readonly FieldDescription[]): Columns {
  const names = cells.map((cell) => cell.trim())
  const known = `The header names fields: ${fields.map(({ name }) => name).join(', ')}.`
  return names.map((name, i) => {
    if (name === '') return undefined
    const field = fields.find((one) => one.name === name)
    if (!field) throw new FileFault(line, `There is no field ${JSON.stringify(name)}. ${known}`)
    if (names.indexOf(name) !== i) throw new FileFault(line, `It has the column ${name} twice.`)
    if (field.type === 'questions') throw new FileFault(line, `It has the column ${name}, which only NDJSON can hold.`)
    return field
  })
}
