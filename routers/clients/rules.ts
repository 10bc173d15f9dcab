import type { Transaction } from '../../prisma/client.ts'
import { isText } from '../kernel/typed-text.ts'
import { fault, refuseIf } from './faults.ts'
import type { Purpose } from './rows.ts'

export const isReviewed = async (tx: Transaction, app: string) =>
  (await tx.client.count({ where: { appId: app, testOnly: false } })) > 0

const MAX_PURPOSE = 1000

export function purposesOf(scopes: readonly string[], said: Purpose): Purpose {
  const purposes = scopes.map((scope) => [scope, (said[scope] ?? '').trim()] as const)
  refuseIf(
    purposes
      .filter(([, text]) => !isText(text, MAX_PURPOSE))
      .map(([scope]) => fault(`purpose.${scope}`, 'purpose', scope)),
  )
  return Object.fromEntries(purposes)
}
