import type { Fault } from '../../../routers/developer/shared/validation.ts'
import { sentenceOf } from '../../../routers/developer/shared/validation.ts'
import type { ApiError } from '../../../routers/kernel/errors.ts'
import type { Language } from '../../browser/language.ts'
import type { Html } from '../../browser/pages/html.ts'
import * as de from './refusals-de.ts'

/** A sentence in the reader's language; `name` is that of the form's field, where the fault is in one. */
export interface Problem {
  name?: string | undefined
  text: Html | string
}

/** Names of form fields that differ from those of the input. */
const fieldNames: Record<string, string> = {
  redirectUris: 'redirects',
  postLogoutRedirectUris: 'logouts',
  scopes: 'scope',
}
/** The form's field that an error is about. */
const fieldsOf: Record<string, string> = {
  urlInvalid: 'url',
  quotaExceeded: 'value',
  secretInvalid: 'secret',
  emailInvalid: 'email',
  alreadyInTeam: 'email',
  nameInvalid: 'collection',
  tooManyRules: 'collection',
  clientNotWeb: 'authentication',
  secretMissing: 'authentication',
  staysConfidential: 'authentication',
  confirmationWrong: 'confirm',
  nameNotConfirmed: 'confirm',
  eventTypeUnknown: 'type',
}

export function problemsOf(error: ApiError, language: Language): Problem[] {
  if (error.faults.length > 0) {
    return (error.faults as readonly Fault[]).map((fault) => ({
      name: fieldNames[fault.field] ?? fault.field,
      text:
        language === 'de'
          ? (de.faults[fault.rule] as (...values: readonly string[]) => string)(...fault.values)
          : sentenceOf(fault),
    }))
  }
  const german = language === 'de' ? de.errors[error.id] : undefined
  const text = typeof german === 'function' ? german(error) : (german ?? error.message)
  return [{ name: fieldsOf[error.id], text }]
}
