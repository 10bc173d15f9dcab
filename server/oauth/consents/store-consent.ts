import type { Database, Transaction } from '../../../prisma/client.ts'
import type { Prisma } from '../../../prisma/generated/client.ts'
import { holdApproval } from '../../../routers/approvals/approvals.ts'
import { holdChildApproval } from '../../../routers/approvals/child-requests.ts'
import { lockMember, queueMemberMail } from '../../../routers/developer/mails/member-mails.ts'
import { removeRecords } from '../../../routers/kernel/withdraw.ts'
import type { Choice } from './consent-choices.ts'
import type { DocumentClient } from './document-clients.ts'
import { storeDocumentClient } from './document-clients.ts'
import { endOldest } from './oldest.ts'

type Given = Prisma.ConsentUncheckedCreateInput & { createdAt: Date; scopes: string[] }

interface Options {
  /** With the approvals that it needs. */
  choice: Pick<Choice, 'club' | 'child'>
  /** Given in a browser: an earlier one of the member for the client and organisation covers no sign-in any more. */
  replaces: boolean
  /** MEMBER_MAILS. */
  memberMails: boolean
  /** A client that its document describes, whose rows the consent refers to. */
  document: DocumentClient | null
}

/**
 * Stores a consent; false where the club has not approved its app, or a guardian has not approved these scopes, or no longer
 * does.
 */
export const storeConsent = (
  db: Database,
  data: Given,
  { choice: { club, child }, replaces, memberMails, document }: Options,
): Promise<boolean> =>
  db.$transaction(async (tx) => {
    if (memberMails) await lockMember(tx, data.personId)
    if (club && !(await holdApproval(tx, club))) return false
    if (child && !(await holdChildApproval(tx, child, data.scopes))) return false
    if (document) await storeDocumentClient(tx, document)
    // The same form was sent twice.
    if ((await tx.consent.createMany({ data, skipDuplicates: true })).count === 0) return true
    if (replaces) await replaceFormer(tx, data)
    const { id, personId: person, clientId: client, organisationId: organisation } = data
    await endOldest(tx, { id, person, client, organisation }, data.createdAt.getTime())
    const kind = replaces ? 'accessGranted' : 'deviceAllowed'
    if (memberMails) await queueMemberMail(tx, { kind, consent: data.id, at: data.createdAt.getTime() })
    return true
  })

/** In this order: a sign-in that skips the page holds the consent that covers it. */
async function replaceFormer(tx: Transaction, { id, personId, clientId, organisationId, createdAt }: Given) {
  const former = { personId, clientId, organisationId, id: { not: id } }
  await tx.consent.updateMany({ where: { ...former, shown: { not: null } }, data: { shown: null } })
  const ended = await tx.consent.updateManyAndReturn({
    where: { ...former, basis: { not: null }, withdrawnAt: null },
    data: { withdrawnAt: createdAt },
    select: { id: true },
  })
  if (ended.length > 0)
    await removeRecords(
      tx,
      ended.map(({ id }) => id),
    )
}
