import { findClubs, membersWhoAllow } from '../../../routers/approvals/club-approvals.ts'
import type { Decision } from '../../../routers/approvals/decide.ts'
import { decide, reasonFault } from '../../../routers/approvals/decide.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { ApiError, errors } from '../../../routers/kernel/errors.ts'
import { readForm } from '../../browser/forms.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import type { Named } from '../../browser/pages/views.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { clubEntries } from '../consents/club-entries.ts'
import type { Member } from './member-sign-in.ts'
import { memberSignIn } from './member-sign-in.ts'
import type { PageOptions } from './page-options.ts'
import type { ClubView } from './views/club.ts'
import { clubPage, noClubPage, withdrawPage } from './views/club.ts'

/** Decisions per minute and administrator: each is an entry of an app's audit log. */
const MAX_DECISIONS = 30
const MAX_PAGE = 10_000

interface ClubContext {
  member: Member
  clubs: Named[]
  club: Named
}

/** The pages on which administrators of clubs decide about apps. */
export function clubApps(options: PageOptions) {
  const { db, now, limits, pages, due } = options
  const action = `${pages.path}/club`
  const { findMember, attempt, signOut } = memberSignIn(options, action, 'clubs')
  const mayDecide = requestLimit(limits, 'club-decisions', MAX_DECISIONS)

  /** The member alone for who administers no club; undefined when nobody is signed in. Throws 404 for a club of others. */
  const findClubContext = async (
    member: Member | undefined,
    wanted: string | null,
  ): Promise<ClubContext | Member | undefined> => {
    if (!member) return undefined
    const clubs = await findClubs(db, member.id, now())
    const club = wanted === null ? clubs[0] : clubs.find(({ id }) => id === wanted)
    if (!club && wanted !== null) throw errors.addressUnknown()
    return club ? { member, clubs, club } : member
  }

  const list = async (ctx: StepContext, { clubs, club }: ClubContext, more: Partial<ClubView> = {}, status = 200) => {
    const page = readPage(ctx)
    const { entries, more: isMore } = await clubEntries(db, club.id, { now: now(), page })
    const view = { ...pageContext(ctx), action, club, others: clubs.filter(({ id }) => id !== club.id) }
    sendPage(ctx, clubPage({ ...view, entries, page, more: isMore, ...more }), status)
  }

  const act = (state: Decision['state']) => async (ctx: StepContext) => {
    const form = await readForm(ctx)
    const member = await findMember(ctx)
    if (member && !(await mayDecide(member.id))) throw errors.peopleLimited(60)
    const context = await findClubContext(member, form.get('club') ?? '')
    if (!context || !('club' in context)) return redirect(ctx, action)
    const { club } = context
    const app = form.get('app') ?? ''
    const [entry] = isPostgresText(app) ? (await clubEntries(db, club.id, { now: now(), app })).entries : []
    if (!entry) throw errors.addressUnknown()
    const reason = state === 'refused' ? (form.get('reason') ?? '').trim() : null
    const fault = reason === null ? undefined : reasonFault(reason)
    if (fault) {
      const problem = fault.reason === 'unseen' || fault.reason === 'stray' ? 'reasonUnseen' : 'reasonInvalid'
      return list(ctx, context, { problem, troubled: app }, 400)
    }
    try {
      const by = { administrator: context.member.id, at: new Date(now()) }
      if ((await decide(db, { club: club.id, app, state, reason }, by)) > 0) due.wake()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      return list(ctx, context, { problem: 'decidedMeanwhile' }, 409)
    }
    return list(ctx, context, { decided: { state, app: entry.app.name } })
  }

  return {
    attempt,
    signOut,
    async get(ctx: StepContext) {
      const context = await findClubContext(await findMember(ctx), parseQuery(ctx).get('club'))
      if (!context) return pages.signIn.showForm(ctx, attempt(ctx))
      if ('club' in context) return list(ctx, context)
      return sendPage(ctx, noClubPage({ ...pageContext(ctx), action, member: context.name }), 403)
    },
    /** Asks first, unless the app is no longer approved. */
    async remove(ctx: StepContext) {
      const app = parseQuery(ctx).get('app') ?? ''
      const context = await findClubContext(await findMember(ctx), parseQuery(ctx).get('club') ?? '')
      if (!context || !('club' in context) || !isPostgresText(app)) return redirect(ctx, action)
      const { club } = context
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

const parseQuery = (ctx: StepContext) => new URLSearchParams(ctx.state.search)

function readPage(ctx: StepContext): number {
  const page = Number(parseQuery(ctx).get('page'))
  return Number.isInteger(page) && page > 0 && page <= MAX_PAGE ? page : 0
}
