import type { Decision } from '../../../routers/approvals/decide.ts'
import { decide, reasonFault } from '../../../routers/approvals/decide.ts'
import { clubsOf, membersWhoAllow } from '../../../routers/approvals/of-club.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { ApiError, errors } from '../../../routers/kernel/errors.ts'
import { readForm } from '../../browser/forms.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import type { Named } from '../../browser/pages/views.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/request-limit.ts'
import { clubEntries } from '../consents/club-entries.ts'
import type { Member } from './member-sign-in.ts'
import { memberSignIn } from './member-sign-in.ts'
import type { PageOptions } from './page-options.ts'
import type { ClubView } from './views/club.ts'
import { clubPage, noClubPage, withdrawPage } from './views/club.ts'

/** Decisions per minute and administrator: each is an entry of an app's audit log. */
const MAX_DECISIONS = 30
const MAX_PAGE = 10_000

interface Visit {
  member: Member
  clubs: Named[]
  club: Named
}

/** The pages on which administrators of clubs decide about apps. */
export function clubApps(options: PageOptions) {
  const { db, now, limits, pages, due } = options
  const action = `${pages.path}/club`
  const { memberOf, attempt, signOut } = memberSignIn(options, action, 'clubs')
  const mayDecide = requestLimit(limits, 'club-decisions', MAX_DECISIONS)

  /** The member alone for who administers no club; undefined when nobody is signed in. Throws 404 for a club of others. */
  const visitOf = async (member: Member | undefined, wanted: string | null): Promise<Visit | Member | undefined> => {
    if (!member) return undefined
    const clubs = await clubsOf(db, member.id, now())
    const club = wanted === null ? clubs[0] : clubs.find(({ id }) => id === wanted)
    if (!club && wanted !== null) throw errors.addressUnknown()
    return club ? { member, clubs, club } : member
  }

  const list = async (ctx: StepContext, { clubs, club }: Visit, more: Partial<ClubView> = {}, status = 200) => {
    const page = pageOf(ctx)
    const { entries, more: isMore } = await clubEntries(db, club.id, { now: now(), page })
    const view = { ...pageContext(ctx), action, club, others: clubs.filter(({ id }) => id !== club.id) }
    sendPage(ctx, clubPage({ ...view, entries, page, more: isMore, ...more }), status)
  }

  const act = (state: Decision['state']) => async (ctx: StepContext) => {
    const form = await readForm(ctx)
    const member = await memberOf(ctx)
    if (member && !(await mayDecide(member.id))) throw errors.peopleLimited(60)
    const visit = await visitOf(member, form.get('club') ?? '')
    if (!visit || !('club' in visit)) return redirect(ctx, action)
    const { club } = visit
    const app = form.get('app') ?? ''
    const [entry] = isPostgresText(app) ? (await clubEntries(db, club.id, { now: now(), app })).entries : []
    if (!entry) throw errors.addressUnknown()
    const reason = state === 'refused' ? (form.get('reason') ?? '').trim() : null
    const fault = reason === null ? undefined : reasonFault(reason)
    if (fault) {
      const problem = fault.reason === 'unseen' || fault.reason === 'stray' ? 'reasonUnseen' : 'reasonInvalid'
      return list(ctx, visit, { problem, troubled: app }, 400)
    }
    try {
      const by = { administrator: visit.member.id, at: new Date(now()) }
      if ((await decide(db, { club: club.id, app, state, reason }, by)) > 0) due.wake()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      return list(ctx, visit, { problem: 'decidedMeanwhile' }, 409)
    }
    return list(ctx, visit, { decided: { state, app: entry.app.name } })
  }

  return {
    attempt,
    signOut,
    async get(ctx: StepContext) {
      const visit = await visitOf(await memberOf(ctx), queryOf(ctx).get('club'))
      if (!visit) return pages.signIn.showForm(ctx, attempt(ctx))
      if ('club' in visit) return list(ctx, visit)
      return sendPage(ctx, noClubPage({ ...pageContext(ctx), action, member: visit.name }), 403)
    },
    /** Asks first, unless the app is no longer approved. */
    async remove(ctx: StepContext) {
      const app = queryOf(ctx).get('app') ?? ''
      const visit = await visitOf(await memberOf(ctx), queryOf(ctx).get('club') ?? '')
      if (!visit || !('club' in visit) || !isPostgresText(app)) return redirect(ctx, action)
      const { club } = visit
      const [entry] = (await clubEntries(db, club.id, { now: now(), app })).entries
      if (entry?.state !== 'approved') return redirect(ctx, `${action}?${new URLSearchParams({ club: club.id })}`)
      const members = await membersWhoAllow(db, { club: club.id, app }, now())
      sendPage(ctx, withdrawPage({ ...pageContext(ctx), action, club, entry, members }))
    },
    approve: act('approved'),
    refuse: act('refused'),
    withdraw: act('withdrawn'),
  }
}

const queryOf = (ctx: StepContext) => new URLSearchParams(ctx.state.search)

function pageOf(ctx: StepContext): number {
  const page = Number(queryOf(ctx).get('page'))
  return Number.isInteger(page) && page > 0 && page <= MAX_PAGE ? page : 0
}
