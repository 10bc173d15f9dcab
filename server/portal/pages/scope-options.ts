import { isConsentScope, scopeWords } from '../../../routers/kernel/identity-scopes.ts'
import type { Options } from '../../browser/look/components/field.ts'
import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'

/** Scopes with what each allows, in the reader's language. */
export const scopeOptions = ({ language }: PageRequest, scopes: readonly string[]): Options =>
  scopes.map((scope) => [scope, html`${isConsentScope(scope) && scopeWords(scope)[language]} <code>${scope}</code>`])
