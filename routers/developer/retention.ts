import type { Database } from '../../prisma/client.ts'
import { removal } from '../../prisma/pg/removal.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { DAY_MS } from '../kernel/time.ts'

export const AUDIT_DAYS = 730
/** The person still reads why. */
export const REFUSED_TEAM_DAYS = 90
/** Its team still sees when an expired secret was last used. */
export const EXPIRED_SECRET_DAYS = 30
/** A mail that could not be sent by then is given up. */
export const MAIL_DAYS = 3

const remove = {
  invitations: removal({ name: 'team_remove_invitations', table: '"TeamInvitation"', time: '"expiresAt"' }),
  requests: removal({ name: 'team_remove_requests', table: '"TeamRequest"', time: '"refusedAt"' }),
  audit: removal({ name: 'team_remove_audit', table: '"AuditEntry"', time: '"at"' }),
  secrets: removal({ name: 'client_remove_secrets', table: '"ClientSecret"', time: '"expiresAt"' }),
  mails: removal({ name: 'team_remove_mails', table: '"Mail"', time: '"createdAt"' }),
}

export async function removeOldInvitations(db: Database, now: number, limit = PORTION): Promise<number> {
  return remove.invitations(db, now, limit)
}

export async function removeRefusedTeams(db: Database, now: number, limit = PORTION): Promise<number> {
  return remove.requests(db, now - REFUSED_TEAM_DAYS * DAY_MS, limit)
}

export async function removeOldAuditEntries(db: Database, now: number, limit = PORTION): Promise<number> {
  return remove.audit(db, now - AUDIT_DAYS * DAY_MS, limit)
}

export async function removeExpiredSecrets(db: Database, now: number, limit = PORTION): Promise<number> {
  return remove.secrets(db, now - EXPIRED_SECRET_DAYS * DAY_MS, limit)
}

export async function removeOldMails(db: Database, now: number, limit = PORTION): Promise<number> {
  return remove.mails(db, now - MAIL_DAYS * DAY_MS, limit)
}
