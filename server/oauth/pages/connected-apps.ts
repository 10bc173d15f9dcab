import { isGuardian } from '../../../routers/approvals/child-requests.ts'
import { findClubs } from '../../../routers/approvals/club-approvals.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { findOpenRequest, requestData } from '../../../routers/personal-data/requests.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { listConsents, withdraw } from '../consents/consents.ts'
import { replayNotices } from '../consents/replays.ts'
import type { Member } from './member-page.ts'
import { memberPage } from './member-page.ts'
import type { PageOptions } from './page-options.ts'
import { connectedPage, memberPages, removePage } from './views/connected.ts'

/** Requests for a copy of the data per minute and member. */
const MAX_DATA_REQUESTS = 10

export function addConnectedApps(options: PageOptions) {
  const { db, now, limits, due, clubApproval, consentAges } = options
  const { action, shown, posted, signOut, addRoutes } = memberPage(options, '/connected')

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

  addRoutes({
    gets: {
      '': shown((ctx, member) => list(ctx, member)),
      /** Asks first, unless the consent no longer exists. */
      '/remove': shown(async (ctx, member) => {
        const consent = new URLSearchParams(ctx.state.search).get('consent')
        const connected = (await listConsents(db, member.id, now())).find((one) => one.consent === consent)
        if (!connected) return redirect(ctx, action)
        sendPage(ctx, removePage({ ...pageContext(ctx), action, member: member.name, connected }))
      }),
    },
    posts: {
      '/withdraw': posted(async (ctx, member, form) => {
        const consent = form.get('consent') ?? ''
        const app = isPostgresText(consent) ? await withdraw(db, member.id, consent, now()) : undefined
        if (app === undefined) throw errors.addressUnknown()
        due.wake()
        return list(ctx, member, app)
      }),
      '/data': posted(
        async (ctx, member) => {
          if (await requestData(db, member.id, now())) due.wake()
          return list(ctx, member)
        },
        requestLimit(limits, 'data-requests', MAX_DATA_REQUESTS),
      ),
      '/sign-out': signOut,
    },
  })
}
