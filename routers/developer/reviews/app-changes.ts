import type { Transaction } from '../../../prisma/client.ts'
import type { WantedOfApp } from '../shared/mappers.ts'

/** Members read an app's texts since it has a client other than a test client. */
export const appNeedsReview = async (tx: Transaction, app: string) =>
  (await tx.client.count({ where: { appId: app, testOnly: false } })) > 0

interface Shown {
  name: string
  description: string | null
  homepage: string | null
  wanted: WantedOfApp | null
}
type Requested = { [K in 'name' | 'description' | 'homepage']?: string | undefined }

/** Removing a text shows nothing new, so it takes effect at once. */
export function changeApp(before: Shown, requested: Requested, needsReview: boolean) {
  const now: { name?: string; description?: string | null; homepage?: string | null } = {}
  const wanted: WantedOfApp = { ...before.wanted }
  for (const field of ['name', 'description', 'homepage'] as const) {
    const text = requested[field]
    if (text === undefined) continue
    delete wanted[field]
    if (needsReview && text !== '' && text !== before[field]) wanted[field] = text
    else if (field === 'name') now.name = text
    else now[field] = text || null
  }
  return { now, wanted }
}
