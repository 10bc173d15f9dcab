import { direct } from './addresses.ts'
import { query } from './databases.ts'
import { pgClient } from './pg-client.ts'

/** What the checks of a table ask for, or what makes rows that a poll does not take for its own. */
const values: Record<string, string> = {
  'AnsweredRequest.member': 'md5(n::text)',
  'AnsweredRequest.status': '200',
  'Calendar.visible': 'true',
  'CalendarFeed.hash': `lpad(n::text, 43, '0')`,
  'Client.secretHash': 'NULL',
  'Client.jwks': 'NULL',
  'Client.type': `'web'`,
  'ChildRequest.scopes': `'{a}'`,
  'ChildRequest.covered': `'{a}'`,
  'ChildRequest.reason': 'NULL',
  'ClubApproval.reason': 'NULL',
  'ClubApproval.number': '-n',
  'ClientSecret.hash': `lpad(n::text, 43, '0')`,
  'ClientSecret.expiresAt': `now() + interval '1 day'`,
  'DataRequest.deadline': `now() + interval '1 day'`,
  'Delivery.state': `'delivered'`,
  'Delivery.nextAttemptAt': 'NULL',
  'AuditEntry.id': '-n',
  'AuditEntry.clientId': 'NULL',
  'Delivery.lease': 'NULL',
  'Delivery.leasedUntil': 'NULL',
  'DeliveryAttempt.status': '204',
  'Event.state': `'published'`,
  'Mail.kind': `'webhookEnded'`,
  'Mail.administratorId': 'NULL',
  'Mail.approvalId': 'NULL',
  'Mail.askedBy': 'NULL',
  'Mail.childRequestId': 'NULL',
  'Mail.consentId': 'NULL',
  'Mail.email': 'NULL',
  'Mail.nextAt': 'NULL',
  'Guardian.guardianId': `'y' || n`,
  'MemberChange.resultId': `''`,
  // A poll reads the changes that were published in the last minute.
  'MemberChange.publishedAt': `now() - interval '1 hour'`,
  'Membership.leftAt': 'NULL',
  'Organisation.country': 'NULL',
  'Organisation.testTeamId': 'NULL',
  'FailedSignIn.status': '400',
  'GroupMembership.leftAt': 'NULL',
  'Question.type': `'text'`,
  'RefusedRequest.member': 'md5(n::text)',
  'StorageEntry.owner': `'x' || n`,
  'StorageEntry.createdBy': 'NULL',
  'StorageEntry.updatedBy': 'NULL',
  'StorageEntry.value': `'1'`,
  'StorageUsage.bytes': '1',
  'StorageCollection.entries': '1',
  'StorageRequest.method': `'PUT'`,
  'StorageRequest.hash': `sha256('')`,
  'StorageRequest.outcomes': `'{stored}'`,
  'StorageRequest.versions': `'{NULL}'`,
  'CollectionRule.rule': `'author'`,
  'OauthRecord.expiresAt': `now() + interval '1 day'`,
  'LoginCode.expiresAt': `now() + interval '1 day'`,
  'App.formerSecret': 'NULL',
  'App.formerUntil': 'NULL',
  'Subscription.formerSecret': 'NULL',
  'Subscription.formerUntil': 'NULL',
  'App.webhookUrl': `'https://example.org/'`,
  'Subscription.url': `'https://example.org/'`,
  'Subscription.endedAt': 'NULL',
  'Subscription.test': 'false',
  'Subscription.address': 'false',
  'Subscription.paused': 'false',
}

const ofType: Record<string, string> = {
  text: `'x' || n`,
  bool: 'n % 2 = 0',
  int4: 'n',
  int8: 'n',
  float8: '1',
  timestamptz: 'now()',
  date: `date '2030-01-01'`,
  uuid: 'gen_random_uuid()',
  json: `'{}'`,
  jsonb: `'{}'`,
  bytea: 'NULL',
  _text: `'{}'`,
  _MailKind: `'{}'`,
}

/** Tables whose rows nobody has thousands of. */
const small = ['SigningKey', 'RsaSigningKey', 'CardKey', 'ExternalKeySet', 'SecretsKeyCheck', 'Housekeeping']

/** Adds this many rows of others to each table, which refer to one another; for a superuser. */
export async function addForeignRows(url: string, count: number): Promise<void> {
  const columns = await query(
    url,
    `SELECT c.relname AS table, a.attname AS name, t.typname AS type, t.typtype AS kind,
       (SELECT min(enumlabel::text) FROM pg_enum WHERE enumtypid = t.oid) AS label
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE '\\_%'
       AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`,
  )
  const tables = new Map<string, typeof columns>()
  for (const column of columns) tables.set(column.table, [...(tables.get(column.table) ?? []), column])
  // Without triggers and foreign keys: 360,000 rows in some seconds.
  const inserts = [...tables]
    .filter(([table]) => !small.includes(table))
    .map(([table, of]) => {
      const value = ({ name, type, kind, label }: (typeof columns)[number]) =>
        values[`${table}.${name}`] ?? (kind === 'e' ? `'${label}'` : ofType[type])
      const names = of.map(({ name }) => `"${name}"`).join(', ')
      return `INSERT INTO "${table}" (${names}) SELECT ${of.map(value).join(', ')} FROM generate_series(1, ${count}) n`
    })
  const client = pgClient({ connectionString: direct(url), options: '-c statement_timeout=0' })
  await client.connect()
  try {
    await client.query(['SET session_replication_role = replica', ...inserts].join(';\n'))
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}
