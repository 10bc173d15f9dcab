import type { AnyTRPCProcedure, inferProcedureInput } from '@trpc/server'
import type { z } from 'zod'
import type { ApiError } from '../../../routers/kernel/errors.ts'
import { readDefinition } from '../../../routers/kernel/trpc-internals.ts'
import type { Control, Options, Text } from '../../browser/look/components/field.ts'
import {
  checkBox,
  checkBoxes,
  fileInput,
  group,
  select,
  textArea,
  textInput,
} from '../../browser/look/components/field.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { FieldRule } from './field-rule.ts'
import { fieldRule } from './field-rule.ts'
import type { Posted } from './read-field.ts'
import { readField } from './read-field.ts'

/** A sentence in the reader's language; `name` is that of the form's field, where the fault is in one. */
export interface FormProblem {
  name?: string | undefined
  text: Text
}

/** A refused form: the last segment of its address, why, and what was typed. */
export interface RefusedForm {
  action: string
  problems: readonly FormProblem[]
  typed: URLSearchParams
}

interface Page {
  refused?: RefusedForm
}

/** A posted form: what it reads is the input of a procedure, or a part of it, and fields of the page's own. */
export interface Form<Fields extends object> {
  /** The last segment of the address that it is posted to. */
  action: string
  read: (posted: Posted) => Fields
  /** The field that an error is about; undefined for one about the whole form. */
  fieldAtFault: (error: ApiError) => string | undefined
  /** Its fields on a page, with these values, or those that were refused. */
  at: (page: Page, values?: { [Name in keyof Fields]?: Fields[Name] | null | undefined }) => View<Fields>
}

interface View<Fields> {
  /** Whether the form was refused. */
  isRefused: boolean
  field: (name: keyof Fields & string, texts: Texts) => Html
  hidden: (name: keyof Fields & string) => Html
  /** The version that the fields were filled from: beside what was typed, it stays the one that was posted. */
  seen: (name: keyof Fields & string) => Html
}

/** What only the page says about a field; how it is entered, and its bounds, follow from the schema. */
interface Texts {
  label: Text
  hint?: Text | undefined
  /** Text of several lines. */
  rows?: number
  /** Choices, or the members of a record. */
  options?: Options
  /** Never shows what is stored or was entered. */
  isSecret?: boolean
  /** The media types of a file. */
  accept?: string
}

interface Parts<Own, Name> {
  /** Fields that the page alone reads. */
  own?: Own
  /** The field at which an error of the procedure's own is shown. */
  errorsAt?: Readonly<Record<string, Name>>
}

type Fields<Procedure extends AnyTRPCProcedure, Own extends z.core.$ZodLooseShape> = Omit<
  inferProcedureInput<Procedure>,
  keyof Own
> &
  z.core.$InferObjectOutput<Own, Record<never, never>>

/** A form of nothing but a button. */
export function form(action: string): Form<object>
export function form<
  Procedure extends AnyTRPCProcedure,
  Name extends keyof Fields<Procedure, Own> & string,
  Own extends z.core.$ZodLooseShape = Record<never, never>,
>(
  action: string,
  procedure: Procedure,
  names: readonly Name[],
  parts?: Parts<Own, Name>,
): Form<Pick<Fields<Procedure, Own>, Name>>
export function form(
  action: string,
  procedure?: AnyTRPCProcedure,
  names: readonly string[] = [],
  { own = {}, errorsAt = {} }: Parts<z.core.$ZodLooseShape, string> = {},
): Form<Record<string, unknown>> {
  const inputs = procedure ? readDefinition(procedure).inputs : []
  const shape = Object.assign({}, ...inputs.map((input) => input.shape), own) as z.core.$ZodShape
  const rules = new Map(names.map((name) => [name, fieldRule(shape[name]!)]))
  return {
    action,
    read: (posted) => {
      const read = names.map((name) => [name, readField(posted, name, rules.get(name)!)] as const)
      return Object.fromEntries(read.filter(([, value]) => value !== undefined))
    },
    fieldAtFault: ({ id, field }) => errorsAt[id] ?? field,
    at: (page, values = {}) => toView(page, { action, rules, values }),
  }
}

interface Shown {
  action: string
  rules: ReadonlyMap<string, FieldRule>
  values: Readonly<Record<string, unknown>>
}

function toView({ refused }: Page, { action, rules, values }: Shown): View<Record<string, unknown>> {
  const { typed, problems = [] } = refused?.action === action ? refused : {}
  let isFirst = true
  const findProblem = (name: string) => {
    const texts = problems.filter((problem) => problem.name === name).map(({ text }) => text)
    if (texts.length === 0) return undefined
    const focus = isFirst
    isFirst = false
    return { texts, focus }
  }
  const field = (name: string, texts: Texts) => {
    const rule = rules.get(name)!
    const control = { id: `${action}-${name}`, name, label: texts.label, hint: texts.hint, problem: findProblem(name) }
    if (rule.type === 'flag') return checkBox(control, typed ? typed.has(name) : values[name] === true)
    if (rule.type === 'file') return fileInput(control, texts.accept ?? '')
    if (rule.type === 'list' && texts.options) {
      return checkBoxes(control, typed?.getAll(name) ?? (values[name] as string[] | undefined) ?? [], texts.options)
    }
    if (rule.type === 'record') return record(control, texts.options ?? [])
    const value = texts.isSecret ? '' : (typed?.get(name) ?? formatValue(values[name]))
    if (texts.options) return select({ ...control, value }, texts.options)
    const text = { ...control, value, required: rule.isRequired, maxLength: rule.maxLength }
    return texts.rows === undefined ? textInput(text, inputType(rule)) : textArea(text, texts.rows)
  }
  const record = (control: Control, options: Options) => {
    const stored = (values[control.name] ?? {}) as Record<string, string>
    const members = options.map(([member, label]) => {
      const name = `${control.name}.${member}`
      const value = typed?.get(name) ?? stored[member] ?? ''
      const maxLength = rules.get(control.name)!.maxLength
      return textInput(
        { id: `${action}-${name}`, name, label, value, maxLength, required: false, problem: findProblem(name) },
        'text',
      )
    })
    return group(control, html`${members}`)
  }
  return {
    isRefused: typed !== undefined,
    field,
    hidden: (name) => hiddenInput(name, formatValue(values[name])),
    seen: (name) => hiddenInput(name, typed?.get(name) ?? formatValue(values[name])),
  }
}

const hiddenInput = (name: string, value: string) => html`<input type="hidden" name="${name}" value="${value}">`

const formatValue = (value: unknown) => (Array.isArray(value) ? value.join('\n') : String(value ?? ''))

const inputType = ({ format }: FieldRule) => (format === 'uri' ? 'url' : format === 'email' ? 'email' : 'text')
