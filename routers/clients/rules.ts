import type { Transaction } from '../../prisma/client.ts'
import { errors } from '../kernel/errors.ts'
import { isText } from '../kernel/typed-text.ts'
import type { Purpose } from './rows.ts'

export function refuseIf(sentences: readonly string[]) {
  if (sentences.length > 0) throw errors.registrationRefused(sentences.join('\n'))
}

export const isReviewed = async (tx: Transaction, app: string) =>
  (await tx.client.count({ where: { appId: app, testOnly: false } })) > 0

const MAX_PURPOSE = 1000

export function purposesOf(scopes: readonly string[], said: Purpose): Purpose {
  const purposes = scopes.map((scope) => [scope, (said[scope] ?? '').trim()] as const)
  refuseIf(
    purposes
      .filter(([, text]) => !isText(text, MAX_PURPOSE))
      .map(([scope]) => `Say in 1 to ${MAX_PURPOSE} characters, without control characters, what ${scope} is for.`),
  )
  return Object.fromEntries(purposes)
}
