import { findClubs, membersWhoAllow } from '../../../routers/approvals/club-approvals.ts'
import type { Decision } from '../../../routers/approvals/decide.ts'
import { decide } from '../../../routers/approvals/decide.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { childEntries, clubEntries } from '../consents/club-entries.ts'
import { askRemoval, attemptDecision, decideOnForm, readPage, toStatus } from './child-decisions.ts'
import type { Member } from './member-page.ts'
import { memberPage } from './member-page.ts'
import type { PageOptions } from './page-options.ts'
import type { Outcome } from './views/club.ts'
import { clubPage, listQuery, noClubPage, withdrawPage } from './views/club.ts'

type Club = Awaited<ReturnType<typeof findClubs>>[number]

/** The pages on which administrators of clubs decide about apps. */
export function addClubApps(options: PageOptions) {
  const { db, now, clubApproval, consentAges } = options
  const { action, shown, addRoutes, decisions } = memberPage(options, '/club', 'clubs')

  const decides = ({ kind }: Club) => clubApproval && kind === 'club'
  const listClubs = (member: Member) => findClubs(db, member.id, now(), { all: consentAges !== null })

  /** Throws 404 for a club of others. */
  const findOwn = (clubs: readonly Club[], wanted: string | null): Club => {
    const club = clubs.find(({ id }) => id === wanted)
    if (!club) throw errors.addressUnknown()
    return club
  }
  const findEntry = async (club: Club, app: string) =>
    decides(club) && isPostgresText(app) ? (await clubEntries(db, club.id, { now: now(), app })).entries[0] : undefined

  const list = async (ctx: StepContext, member: Member, clubs: readonly Club[], club: Club, more: Outcome = {}) => {
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

  const decideForClub = async (member: Member, club: Club, form: URLSearchParams, state: Decision['state']) => {
    const app = form.get('app') ?? ''
    const entry = await findEntry(club, app)
    if (!entry) throw errors.addressUnknown()
    const by = { administrator: member.id, at: new Date(now()) }
    return attemptDecision(options, { entry, state }, form, (reason) =>
      decide(db, { club: club.id, app, state, reason }, by),
    )
  }

  addRoutes({
    gets: {
      '': shown(async (ctx, member) => {
        const wanted = new URLSearchParams(ctx.state.search).get('club')
        const clubs = await listClubs(member)
        const club = wanted === null ? clubs[0] : findOwn(clubs, wanted)
        if (club) return list(ctx, member, clubs, club)
        return sendPage(ctx, noClubPage({ ...pageContext(ctx), action, member: member.name }), 403)
      }),
      /** Asks first, unless the app is no longer approved, or the child is of age. */
      '/remove': shown(async (ctx, member) => {
        const query = new URLSearchParams(ctx.state.search)
        const club = findOwn(await listClubs(member), query.get('club'))
        const by = { person: member.id, club: club.id }
        const page = readPage(ctx)
        const toList = () => redirect(ctx, action + listQuery({ club, page }))
        if (query.has('child')) {
          if (!(await askRemoval(options, ctx, action, by))) toList()
          return
        }
        const app = query.get('app') ?? ''
        const entry = await findEntry(club, app)
        if (entry?.state !== 'approved') return toList()
        const members = await membersWhoAllow(db, { club: club.id, app }, now())
        sendPage(ctx, withdrawPage({ ...pageContext(ctx), action, club, entry, members, page }))
      }),
    },
    posts: decisions(async (ctx, member, form, state) => {
      const clubs = await listClubs(member)
      const club = findOwn(clubs, form.get('club'))
      const outcome = form.has('child')
        ? decideOnForm(options, form, state, { person: member.id, club: club.id })
        : decideForClub(member, club, form, state)
      return list(ctx, member, clubs, club, await outcome)
    }),
  })
}
