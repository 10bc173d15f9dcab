import { diff } from '../../browser/look/components/diff.ts'
import { factList } from '../../browser/look/components/facts.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import type { Values } from './changes.ts'
import { listChanges } from './changes.ts'

/** Undefined where nothing differs. What was created or removed is a list of its values. */
export function auditChanges(request: PageRequest, before: Values | null, after: Values | null): Html | undefined {
  const changes = listChanges(request, before, after)
  if (changes.length === 0) return undefined
  if (before !== null && after !== null) return diff(changes, request.language)
  const lines = (parts: readonly (Html | string)[]) =>
    html`${parts.map((part, at) => html`${at > 0 && html`<br>`}${part}`)}`
  return factList(changes.map(({ label, removed, added }) => [label, lines([...removed, ...added])]))
}
