import { isConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import type { Options } from '../../browser/look/components/field.ts'
import { html } from '../../browser/pages/html.ts'
import { words } from '../../browser/words/words.ts'
import type { PageRequest } from '../page-request.ts'

/** Scopes with what each allows, in the reader's language. */
export const scopeOptions = ({ language }: PageRequest, scopes: readonly string[]): Options =>
  scopes.map((scope) => [scope, html`${isConsentScope(scope) && words[language].scopes[scope]} <code>${scope}</code>`])
