import { findClubs, membersWhoAllow } from '../../../routers/approvals/club-approvals.ts'
import type { Decision } from '../../../routers/approvals/decide.ts'
import { decide } from '../../../routers/approvals/decide.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { readForm } from '../../browser/forms.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { childEntries, clubEntries } from '../consents/club-entries.ts'
import type { Outcome } from './child-decisions.ts'
import { attemptDecision, decideOnForm, findChildEntry, toStatus } from './child-decisions.ts'
import type { Member } from './member-sign-in.ts'
import { memberSignIn } from './member-sign-in.ts'
import type { PageOptions } from './page-options.ts'
import { clubPage, fields, noClubPage, withdrawPage } from './views/club.ts'
import { removePage } from './views/connected.ts'

/** Decisions per minute and administrator: each is an entry of an app's audit log. */
const MAX_DECISIONS = 30
const MAX_PAGE = 10_000

type Club = Awaited<ReturnType<typeof findClubs>>[number]

interface ClubContext {
  member: Member
  clubs: Club[]
  club: Club
}

/** The pages on which administrators of clubs decide about apps. */
export function clubApps(options: PageOptions) {
  const { db, now, limits, pages, clubApproval, consentAges } = options
  const action = `${pages.path}/club`
  const { findMember, attempt, signOut } = memberSignIn(options, action, 'clubs')
  const mayDecide = requestLimit(limits, 'club-decisions', MAX_DECISIONS)

  const decides = ({ kind }: Club) => clubApproval && kind === 'club'

  /** The member alone for who administers no club; undefined when nobody is signed in. Throws 404 for a club of others. */
  const findClubContext = async (
    member: Member | undefined,
    wanted: string | null,
  ): Promise<ClubContext | Member | undefined> => {
    if (!member) return undefined
    const clubs = await findClubs(db, member.id, now(), { all: consentAges !== null })
    const club = wanted === null ? clubs[0] : clubs.find(({ id }) => id === wanted)
    if (!club && wanted !== null) throw errors.addressUnknown()
    return club ? { member, clubs, club } : member
  }

  const list = async (ctx: StepContext, { member, clubs, club }: ClubContext, more: Outcome = {}) => {
    const page = readPage(ctx)
    const none = { entries: [], more: false }
    const own = decides(club) ? await clubEntries(db, club.id, { now: now(), page }) : none
    const wanted = { person: member.id, club: club.id, now: now(), page }
    const children = consentAges ? await childEntries(db, { ...wanted, ages: consentAges }) : none
    const others = clubs.filter(({ id }) => id !== club.id)
    const view = { ...pageContext(ctx), action, club, others, decides: decides(club), entries: own.entries, page }
    const isMore = own.more || children.more
    sendPage(ctx, clubPage({ ...view, children: children.entries, more: isMore, ...more }), toStatus(more))
  }

  const decideForClub = async (
    form: URLSearchParams,
    state: Decision['state'],
    { member, club }: ClubContext,
  ): Promise<Outcome> => {
    const app = form.get('app') ?? ''
    const isKnown = decides(club) && isPostgresText(app)
    const [entry] = isKnown ? (await clubEntries(db, club.id, { now: now(), app })).entries : []
    if (!entry) throw errors.addressUnknown()
    const reason = state === 'refused' ? (form.get('reason') ?? '').trim() : null
    const by = { administrator: member.id, at: new Date(now()) }
    const decision = { club: club.id, app, state, reason }
    return attemptDecision(options, { entry, state, reason }, () => decide(db, decision, by))
  }

  const act = (state: Decision['state']) => async (ctx: StepContext) => {
    const form = await readForm(ctx)
    const member = await findMember(ctx)
    if (member && !(await mayDecide(member.id))) throw errors.peopleLimited(60)
    const context = await findClubContext(member, form.get('club') ?? '')
    if (!context || !('club' in context)) return redirect(ctx, action)
    const by = { person: context.member.id, club: context.club.id }
    const isOfChild = form.has('child')
    const outcome = isOfChild ? decideOnForm(options, form, state, by) : decideForClub(form, state, context)
    return list(ctx, context, await outcome)
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
      const query = parseQuery(ctx)
      const app = query.get('app') ?? ''
      const context = await findClubContext(await findMember(ctx), query.get('club') ?? '')
      if (!context || !('club' in context) || !isPostgresText(app)) return redirect(ctx, action)
      const { member, club } = context
      const childEntry =
        query.has('child') && (await findChildEntry(options, query, { person: member.id, club: club.id }))
      if (childEntry !== false && childEntry?.child) {
        const connected = { app: childEntry.app, organisation: club.name }
        const view = {
          ...pageContext(ctx),
          action,
          member: childEntry.child.name,
          connected,
          fields: fields(childEntry),
        }
        return sendPage(ctx, removePage(view))
      }
      const [entry] = decides(club) ? (await clubEntries(db, club.id, { now: now(), app })).entries : []
      if (entry?.state !== 'approved') return redirect(ctx, `${action}?${new URLSearchParams({ club: club.id })}`)
      const members = await membersWhoAllow(db, { club: club.id, app }, now())
      sendPage(ctx, withdrawPage({ ...pageContext(ctx), action, club, entry, members }))
    },
    approve: act('approved'),
    refuse: act('refused'),
    withdraw: act('withdrawn'),
  }
}

export const parseQuery = (ctx: StepContext) => new URLSearchParams(ctx.state.search)

export function readPage(ctx: StepContext): number {
  const page = Number(parseQuery(ctx).get('page'))
  return Number.isInteger(page) && page > 0 && page <= MAX_PAGE ? page : 0
}
