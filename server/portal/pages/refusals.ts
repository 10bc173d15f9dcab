import type { Fault } from '../../../routers/developer/shared/validation.ts'
import { formatSentence } from '../../../routers/developer/shared/validation.ts'
import type { ApiError } from '../../../routers/kernel/errors.ts'
import type { Language } from '../../browser/language.ts'
import type { Form, FormProblem } from '../forms/form.ts'
import * as de from './refusals-de.ts'

export function toProblems(
  error: ApiError,
  form: Pick<Form<object>, 'fieldAtFault'>,
  language: Language,
): FormProblem[] {
  if (error.faults.length > 0) {
    return (error.faults as readonly Fault[]).map((fault) => ({
      name: fault.field,
      text:
        language === 'de'
          ? (de.faults[fault.rule] as (...values: readonly string[]) => string)(...fault.values)
          : formatSentence(fault),
    }))
  }
  const german = language === 'de' ? de.errors[error.id] : undefined
  const text = typeof german === 'function' ? german(error) : (german ?? error.message)
  return [{ name: form.fieldAtFault(error), text }]
}
