import { isGuardian } from '../../../routers/approvals/child-requests.ts'
import { findClubs } from '../../../routers/approvals/club-approvals.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { findOpenRequest, requestData } from '../../../routers/personal-data/requests.ts'
import { readForm } from '../../browser/forms.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { listConsents, withdraw } from '../consents/consents.ts'
import { replayNotices } from '../consents/replays.ts'
import type { Member } from './member-sign-in.ts'
import { memberSignIn } from './member-sign-in.ts'
import type { PageOptions } from './page-options.ts'
import { connectedPage, memberPages, removePage } from './views/connected.ts'

/** Requests for a copy of the data per minute and member. */
const MAX_DATA_REQUESTS = 10

export function connectedApps(options: PageOptions) {
  const { db, now, pages, limits, due, clubApproval, consentAges } = options
  const { path, signIn } = pages
  const action = `${path}/connected`
  const mayAsk = requestLimit(limits, 'data-requests', MAX_DATA_REQUESTS)
  const { findMember, attempt, signOut } = memberSignIn(options, action)

  const list = async (ctx: StepContext, member: Member, withdrawn?: string) => {
    const [apps, replays, clubs, hasChildren, dataRequest, card] = await Promise.all([
      listConsents(db, member.id, now()),
      replayNotices(db, member.id, now()),
      clubApproval || consentAges ? findClubs(db, member.id, now(), { all: consentAges !== null }) : [],
      consentAges !== null && isGuardian(db, member.id, now()),
      findOpenRequest(db, member.id),
      db.memberCard.findFirst({ where: { personId: member.id, validUntil: { not: null } }, select: { serial: true } }),
    ])
    const isShown = { card: card !== null, calendar: true, club: clubs.length > 0, family: hasChildren }
    const others = memberPages.filter((page) => isShown[page])
    const view = { ...pageContext(ctx), action, member: member.name, apps, replays, others, dataRequest }
    sendPage(ctx, connectedPage({ ...view, ...(withdrawn !== undefined && { withdrawn }) }))
  }

  return {
    attempt,
    signOut,
    async get(ctx: StepContext) {
      const member = await findMember(ctx)
      return member ? list(ctx, member) : signIn.showForm(ctx, attempt(ctx))
    },
    /** Asks first, unless the consent no longer exists. */
    async remove(ctx: StepContext) {
      const member = await findMember(ctx)
      const consent = new URLSearchParams(ctx.state.search).get('consent')
      const apps = member ? await listConsents(db, member.id, now()) : []
      const connected = apps.find((one) => one.consent === consent)
      if (!member || !connected) return redirect(ctx, action)
      sendPage(ctx, removePage({ ...pageContext(ctx), action, member: member.name, connected }))
    },
    async withdraw(ctx: StepContext) {
      const member = await findMember(ctx)
      if (!member) return redirect(ctx, action)
      const consent = (await readForm(ctx)).get('consent') ?? ''
      const app = isPostgresText(consent) ? await withdraw(db, member.id, consent, now()) : undefined
      if (app === undefined) throw errors.addressUnknown()
      due.wake()
      return list(ctx, member, app)
    },
    async requestData(ctx: StepContext) {
      const member = await findMember(ctx)
      if (!member) return redirect(ctx, action)
      if (!(await mayAsk(member.id))) throw errors.peopleLimited(60)
      if (await requestData(db, member.id, now())) due.wake()
      return list(ctx, member)
    },
  }
}
