import type { Transaction } from '../../../prisma/client.ts'
import { textFault } from '../../kernel/text-input.ts'
import type { Purpose } from './mappers.ts'
import { fault, refuseIf, textFaults } from './validation.ts'

export const isReviewed = async (tx: Transaction, app: string) =>
  (await tx.client.count({ where: { appId: app, testOnly: false } })) > 0

export const MAX_PURPOSE = 1000

export function purposesOf(scopes: readonly string[], said: Purpose): Purpose {
  const purposes = scopes.map((scope) => [scope, (said[scope] ?? '').trim()] as const)
  refuseIf(
    purposes.flatMap(([scope, text]) => {
      const field = `purpose.${scope}`
      return textFaults(field, ['purpose', scope], textFault(text, MAX_PURPOSE), fault(field, 'purpose', scope))
    }),
  )
  return Object.fromEntries(purposes)
}
