import { textFault } from '../../kernel/text-input.ts'
import type { Purpose } from './mappers.ts'
import { fault, refuseIf, textFaults } from './validation.ts'

export const MAX_PURPOSE = 1000

export function pickPurposes(scopes: readonly string[], said: Purpose): Purpose {
  const purposes = scopes.map((scope) => [scope, (said[scope] ?? '').trim()] as const)
  refuseIf(
    purposes.flatMap(([scope, text]) => {
      const field = `purpose.${scope}`
      return textFaults(field, ['purpose', scope], textFault(text, MAX_PURPOSE), fault(field, 'purpose', scope))
    }),
  )
  return Object.fromEntries(purposes)
}
