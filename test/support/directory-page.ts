import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Field } from '../../routers/directory/fields.ts'
import type { RecordType } from '../../routers/directory/record-type.ts'
import { findRecordType, listFields, recordTypeNames } from '../../routers/directory/record-types.ts'
import { describeReference } from '../../routers/directory/references.ts'

/** The parts of docs/directory.md that follow from the kinds and the schema; test/unit/documentation.test.ts compares them. */

const defaults: Readonly<Record<string, string>> = {
  ':now': 'the time of the call',
  "''": 'empty',
  'LEAST(:now, stage."leftAt")': 'the time of the call, or `leftAt` if that is earlier',
}

/** What the value is, in a few words. */
function formatType({ type, allowed, reference, nullable, children }: Field): string {
  const same = reference?.same ? ` of the same ${reference.same.slice(0, -2)}` : ''
  const named = reference ? `${describeReference(reference)}${same}` : ''
  const forms: Readonly<Record<string, string>> = {
    id: reference ? `id of ${named}` : 'id',
    list: children && reference ? `list of ids, each of ${named}` : 'list of texts',
    choice: allowed
      .replace('one of ', '')
      .split(', ')
      .map((value) => `\`${value}\``)
      .join(', '),
    number: allowed.replace(/, or null$/, ''),
    questions: '`[{ id, type, text, options?, solution? }]`',
  }
  return `${forms[type] ?? type}${nullable ? ', or null' : ''}`
}

/** What a new record without the field has; the default of what may be null is null. */
function formatDefault({ key, needed }: { key: boolean; needed: boolean }, { initial = '' }: Field): string {
  if (key || needed || initial === 'NULL') return ''
  const value = initial.replace(/^'([a-z]+)'$/, '`$1`')
  return `; default ${defaults[initial] ?? (/^'(\[\]|\{\})'$/.test(initial) ? 'none' : value)}`
}

function renderSection({ name, fields, ending }: RecordType): string {
  const described = listFields(name as (typeof recordTypeNames)[number]).filter((field) => field.name !== 'version')
  const rows = described.map((field) => {
    const row = (fields as Record<string, Field>)[field.name]!
    // "The name." and "The first name." say no more than the field.
    const about = /^The (?:\w+ )?\w+\.$/.test(row.about) ? '' : row.about
    const name = field.key ? `**\`${field.name}\`**` : `\`${field.name}\``
    return `- ${name}: ${formatType(row)}${formatDefault(field, row)}${about && `. ${about}`}`
  })
  const after = ending.about === 'Removed.' ? [] : ['', `*Ending.* ${ending.about}`]
  return [`### \`${name}\``, '', ...rows, ...after].join('\n')
}

/** The reference of the records. */
export const recordsPart = () => recordTypeNames.map((name) => renderSection(findRecordType(name))).join('\n\n')

/** Table to the tables whose rows take its rows along. */
export function cascades(): Map<string, string[]> {
  const schema = readFileSync(join(import.meta.dirname, '../../prisma/schema.prisma'), 'utf8')
  const models = [...schema.matchAll(/^model (\w+) \{$([\s\S]*?)^\}$/gm)]
  return new Map(
    models.map(([, model, body]) => {
      const relations = [...body!.matchAll(/^\s+\w+\s+(\w+)\??\s+@relation\(.*onDelete: Cascade/gm)]
      return [model!, relations.map(([, parent]) => parent!)]
    }),
  )
}

/** The tables that the kinds are stored in. */
export const platformTables = () =>
  new Set(
    recordTypeNames.flatMap((name) => {
      const { table, fields } = findRecordType(name)
      return [table, ...Object.values(fields as Record<string, Field>).flatMap(({ children }) => children?.table ?? [])]
    }),
  )

export const page = () => readFileSync(join(import.meta.dirname, '../../docs/directory.md'), 'utf8')
