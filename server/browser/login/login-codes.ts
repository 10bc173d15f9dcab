import { createHash, randomUUID } from 'node:crypto'
import type { Database, Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { removal } from '../../../prisma/pg/removal.ts'
import { bigint, bool, instant, statement, text } from '../../../prisma/pg/statement.ts'
import { PORTION } from '../../../routers/kernel/housekeeping.ts'
import { HOUR_MS } from '../../../routers/kernel/time.ts'
import { toNetwork } from '../../http/client-address.ts'

export interface Sender {
  address: string
  /** The browser's id, if a member has signed in with the e-mail address there before. */
  browser: string | null
}

/** Prefix of a known browser's name, which no network's name has. */
const BROWSER = 'browser '

/** The key by which codes are counted: the network of an unknown sender, or the known browser. */
export const senderName = ({ address, browser }: Sender) => (browser === null ? toNetwork(address) : BROWSER + browser)

const VALID_MS = 600_000
const MAX_TRIES = 5

/** Per hour and e-mail address: for one sender, and for all unknown senders together. */
export const MAX_CODES_OF_SENDER = 5
export const MAX_CODES_OF_STRANGERS = 15

/**
 * Mails to members per hour, for unknown senders of one network. Together with the attempts per code it limits guessing to 300 of
 * 100,000,000 codes.
 */
export const MAX_MAILS_OF_NETWORK = 60

export interface LoginCode {
  interaction: string
  /** In the form of `comparableEmail`. */
  email: string
  code: string
  /** In the form of `senderName`. */
  sender: string
  now: number
}

const lock = statement('login_lock', 'SELECT FROM pg_advisory_xact_lock($lock)', { lock: bigint }, {})

/** Replaces the interaction's code; false if the address or the sender has reached its hourly limit. */
export async function saveCode(
  tx: Transaction,
  { interaction, email, code, sender, now }: LoginCode,
): Promise<boolean> {
  // Otherwise concurrent requests of one interaction or to one address would not count each other. The order of the locks is
  // fixed.
  await executeIn(tx, lock, { lock: toLockId('interaction', interaction) })
  await executeIn(tx, lock, { lock: toLockId('email', email) })
  const lastHour = { email, sentAt: { gt: new Date(now - HOUR_MS) } }
  const earlier = await tx.loginCode.findMany({ where: lastHour, select: { sender: true } })
  if (earlier.filter((one) => one.sender === sender).length >= MAX_CODES_OF_SENDER) return false
  const strangers = earlier.filter((one) => !one.sender.startsWith(BROWSER))
  if (!sender.startsWith(BROWSER) && strangers.length >= MAX_CODES_OF_STRANGERS) return false
  // The earlier code still counts towards the limits, but can no longer be tried.
  await tx.loginCode.updateMany({
    where: { interaction },
    data: { interaction: `replaced:${randomUUID()}`, tries: MAX_TRIES },
  })
  const times = { sentAt: new Date(now), expiresAt: new Date(now + VALID_MS) }
  await tx.loginCode.createMany({ data: { interaction, email, hash: hashCode(interaction, code), sender, ...times } })
  return true
}

/** Makes a saved code valid for signing in; false if its sender's network has reached its hourly limit. */
export async function releaseCode(db: Database, { interaction, email, code, now }: LoginCode): Promise<boolean> {
  const since = now - HOUR_MS
  return (await db.execute(releaseStatement, { email, hash: hashCode(interaction, code), since })).length > 0
}

const releaseStatement = statement(
  'login_release_code',
  `UPDATE "LoginCode" AS code SET mailed = true
    WHERE email = $email AND hash = $hash AND (starts_with(sender, '${BROWSER}') OR ${MAX_MAILS_OF_NETWORK} >
      (SELECT count(*) FROM "LoginCode" WHERE sender = code.sender AND "sentAt" > $since AND mailed))
    RETURNING interaction`,
  { email: text, hash: text, since: instant },
  { interaction: text },
)

/** Counts an attempt at an interaction's code; undefined when there is no code that can still be tried. */
export async function tryCode(
  db: Database,
  { interaction, code, now }: Pick<LoginCode, 'interaction' | 'code' | 'now'>,
) {
  const [tried] = await db.execute(tryStatement, { interaction, hash: hashCode(interaction, code), now })
  return tried
}

/** Counts the attempt and consumes a correct code in one statement: concurrent requests get no extra attempts. */
const tryStatement = statement(
  'login_try_code',
  `UPDATE "LoginCode" SET tries = CASE WHEN hash = $hash AND mailed THEN ${MAX_TRIES} ELSE tries + 1 END
    WHERE interaction = $interaction AND tries < ${MAX_TRIES} AND "expiresAt" > $now
    RETURNING email, hash = $hash AND mailed AS "isRight"`,
  { interaction: text, hash: text, now: instant },
  { email: text, isRight: bool },
)

const hashCode = (interaction: string, code: string) =>
  createHash('sha256').update(`${interaction}:${code}`).digest('hex')

const toLockId = (subject: string, name: string) =>
  createHash('sha256').update(`login code ${subject} ${name}`).digest().readBigInt64BE()

const deleteUpTo = removal({ name: 'login_delete_codes', table: '"LoginCode"', time: '"expiresAt"' })

/** Deletes codes that no longer count towards the hourly limits, at most `limit`, and returns their number. */
export async function deleteExpiredCodes(db: Database, now: number, limit = PORTION): Promise<number> {
  return deleteUpTo(db, now - HOUR_MS + VALID_MS, limit)
}
