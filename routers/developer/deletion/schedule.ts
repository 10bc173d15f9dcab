import type { Transaction } from '../../../prisma/client.ts'
import { DAY_MS } from '../../kernel/time.ts'

/** In which an owner restores what was deleted. */
export const DAYS_TO_RESTORE = 7

export const restoreDeadline = (now: number) => new Date(now + DAYS_TO_RESTORE * DAY_MS)

/** Suspends the app until its end, or with null restores it. The team is locked. */
export const markApp = (tx: Transaction, id: string, endsAt: Date | null) =>
  tx.app.updateMany({
    where: { id, ...(endsAt === null ? { endsAt: { not: null } } : { state: 'active' }) },
    data: { ...stateAt(endsAt), version: { increment: 1 } },
  })

/** The same for a team with all its apps. Those that end earlier, or that the operator has suspended, stay so. */
export async function markTeam(tx: Transaction, id: string, endsAt: Date | null) {
  const before = await tx.team.findUnique({ where: { id }, select: { endsAt: true } })
  if (!before) return { count: 0 }
  const apps = endsAt === null ? { endsAt: before.endsAt ?? new Date(0) } : { state: 'active' as const }
  await tx.app.updateMany({ where: { teamId: id, ...apps }, data: { ...stateAt(endsAt), version: { increment: 1 } } })
  return tx.team.updateMany({ where: { id }, data: { endsAt } })
}

const stateAt = (endsAt: Date | null) => ({
  endsAt,
  state: endsAt === null ? ('active' as const) : ('suspended' as const),
})
