import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { within } from '../../prisma/within.ts'
import { endLeft } from '../../routers/approvals/end-consents.ts'
import { removeEnded } from '../../routers/developer/deletion/remove-ended.ts'
import {
  removeExpiredSecrets,
  removeOldAuditEntries,
  removeOldInvitations,
  removeOldMails,
  removeRefusedTeams,
} from '../../routers/developer/retention.ts'
import { raiseSecretAlarms } from '../../routers/developer/secrets/alarms.ts'
import { moveTestEvents } from '../../routers/developer/test-club/events.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { Task } from '../../routers/kernel/housekeeping.ts'
import { openHousekeeping } from '../../routers/kernel/housekeeping.ts'
import { removeAnsweredRequests } from '../../routers/personal-data/requests.ts'
import { forgetExpired } from '../../routers/quizzes/idempotency.ts'
import { removeOldChanges } from '../../routers/storage/change-retention.ts'
import { removeOldRequests } from '../../routers/storage/request-retention.ts'
import { removeOldMemberChanges } from '../../routers/webhooks/member-events/retention.ts'
import { clearExpiredSecrets } from '../../routers/webhooks/stored-secrets.ts'
import { deleteExpiredCodes } from '../browser/login/login-codes.ts'
import { removeOldConsents } from '../oauth/consents/retention.ts'
import { endUnusedHosts } from '../oauth/consents/unused-hosts.ts'
import { deleteExpiredRecords } from '../oauth/engine/expired-records.ts'
import { deleteRetiredKeys, rotateOldKeys } from '../oauth/keys/signing-key-store.ts'
import { forgetAnswered, forgetRefused, forgetSignIns, forgetUsage } from '../request-log/forget.ts'
import { raiseAlarms } from '../webhooks/alarms.ts'
import { purgeEvents, removeEndedSubscriptions } from '../webhooks/purge.ts'
import type { Config } from './config.ts'

const HOUR_S = 3_600
const MINUTE_S = 60

export interface Cadence {
  /** Between the start and the first check, and between checks for due tasks. */
  intervalMs: number
  /** Timeout for the portion in progress when the service stops; after that, its statement ends with its connection. */
  endingMs: number
}

export const cadence: Cadence = { intervalMs: 60_000, endingMs: 3_000 }

export function housekeepingTasks(
  { keepDays, signingKeyDays }: Pick<Config, 'keepDays' | 'signingKeyDays'>,
  cipher: Cipher,
  sendMail?: Task['step'] | undefined,
): Task[] {
  const events = { keepDays: keepDays.events }
  const consents = { keepDays: keepDays.consents }
  const mails = sendMail ? [{ name: 'mails', every: MINUTE_S, step: sendMail }] : []
  const tasks: (Omit<Task, 'every'> & Partial<Pick<Task, 'every'>>)[] = [
    { name: 'idempotency-records', step: forgetExpired },
    // Used refresh tokens have a successor for 60 s.
    { name: 'oauth-records', every: MINUTE_S, step: deleteExpiredRecords },
    { name: 'login-codes', step: deleteExpiredCodes },
    { name: 'events', step: (db, now, limit) => purgeEvents(db, now, { ...events, limit }) },
    { name: 'member-changes', step: (db, now, limit) => removeOldMemberChanges(db, now, { ...events, limit }) },
    { name: 'subscriptions', step: (db, now, limit) => removeEndedSubscriptions(db, now, { ...events, limit }) },
    { name: 'former-secrets', step: clearExpiredSecrets },
    { name: 'consents', step: (db, now, limit) => removeOldConsents(db, now, { ...consents, limit }) },
    // Members' access goes on until it has ended them.
    { name: 'consents-of-refused', every: MINUTE_S, step: endLeft },
    { name: 'refused-requests', step: forgetRefused },
    { name: 'answered-requests', step: forgetAnswered },
    { name: 'failed-sign-ins', step: forgetSignIns },
    { name: 'usage', step: forgetUsage },
    { name: 'team-invitations', step: removeOldInvitations },
    { name: 'team-requests', step: removeRefusedTeams },
    { name: 'data-requests', step: removeAnsweredRequests },
    { name: 'old-mails', step: removeOldMails },
    { name: 'webhook-alarms', step: raiseAlarms },
    { name: 'secret-alarms', step: raiseSecretAlarms },
    { name: 'client-secrets', step: removeExpiredSecrets },
    { name: 'audit-entries', step: removeOldAuditEntries },
    { name: 'storage-changes', step: removeOldChanges },
    { name: 'storage-requests', step: removeOldRequests },
    { name: 'unused-hosts', step: endUnusedHosts },
    { name: 'ended', step: removeEnded },
    { name: 'test-events', step: moveTestEvents },
    ...mails,
    {
      name: 'signing-keys',
      async step(db, now) {
        const store = { db, cipher, now: () => now }
        await rotateOldKeys(store, signingKeyDays)
        return deleteRetiredKeys(store)
      },
    },
  ]
  return tasks.map((task) => ({ every: HOUR_S, ...task }))
}

interface Options extends Partial<Cadence> {
  db: Database
  /** Unix time in milliseconds. */
  now: () => number
  tasks: readonly Task[]
  log: Logger
  removed?: (task: string, rows: number) => void
}

/** Checks for due tasks each minute. The returned function stops that, and waits briefly for a portion in progress. */
export function startHousekeeping({ db, now, tasks, log, removed, ...given }: Options): () => Promise<void> {
  const { intervalMs, endingMs } = { ...cadence, ...given }
  const ending = new AbortController()
  const counts: Record<string, number> = {}
  const { sweep } = openHousekeeping({
    db,
    tasks,
    now,
    removed(task, rows) {
      counts[task] = (counts[task] ?? 0) + rows
      removed?.(task, rows)
    },
    failed: (task, err) => log.warn({ err, task }, 'housekeeping failed'),
  })
  const run = async () => {
    await sweep(ending.signal).catch((err) => {
      if (!ending.signal.aborted) log.warn({ err }, 'housekeeping failed')
    })
    if (Object.keys(counts).length > 0) log.info({ removed: { ...counts } }, 'housekeeping')
    for (const task of Object.keys(counts)) delete counts[task]
  }
  let running = Promise.resolve()
  let timer: NodeJS.Timeout
  const wait = () => {
    timer = setTimeout(() => {
      running = run().then(() => {
        if (!ending.signal.aborted) wait()
      })
    }, intervalMs)
  }
  wait()
  return async () => {
    ending.abort()
    clearTimeout(timer)
    await within(endingMs, running)
  }
}
