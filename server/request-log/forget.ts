import type { Database } from '../../prisma/client.ts'
import { removal } from '../../prisma/pg/removal.ts'
import { DAY_MS } from '../../routers/kernel/time.ts'

/** Days of retention for requests, and for usage by minute and by hour. */
const KEPT = { refused: 7, answered: 7, signIns: 7, minutes: 1, hours: 30 } as const

const usage = (span: 'minute' | 'hour') =>
  removal({ name: `usage_forget_${span}`, table: '"ClientUsage"', time: 'at', condition: `span = '${span}'` })

const remove = {
  refused: removal({ name: 'refused_forget', table: '"RefusedRequest"', time: 'at' }),
  answered: removal({ name: 'answered_forget', table: '"AnsweredRequest"', time: 'at' }),
  signIns: removal({ name: 'sign_ins_forget', table: '"FailedSignIn"', time: 'at' }),
  minutes: usage('minute'),
  hours: usage('hour'),
}

const forget = (what: keyof typeof KEPT) => (db: Database, now: number, limit: number) =>
  remove[what](db, now - KEPT[what] * DAY_MS, limit)

/** Each removes at most `limit` rows and returns their number. */
export const forgetRefused = forget('refused')
export const forgetAnswered = forget('answered')
export const forgetSignIns = forget('signIns')
export async function forgetUsage(db: Database, now: number, limit: number): Promise<number> {
  return (await forget('minutes')(db, now, limit)) || forget('hours')(db, now, limit)
}
