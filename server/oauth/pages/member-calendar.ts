import { createFeed, toAddress } from '../../../routers/calendar/feeds.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { withLabels } from '../../../routers/kernel/labels.ts'
import { readForm } from '../../browser/forms.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { listFeeds, removeFeed } from '../consents/calendar-feeds.ts'
import { listOrganisations } from '../consents/consents.ts'
import type { Member } from './member-sign-in.ts'
import { memberSignIn } from './member-sign-in.ts'
import type { PageOptions } from './page-options.ts'
import type { CalendarView } from './views/calendar.ts'
import { calendarPage } from './views/calendar.ts'

/** Per minute and member. */
const MAX_CHANGES = 30

/** The page with the addresses at which a member's calendar programs read the events of their clubs. */
export function memberCalendar(options: PageOptions) {
  const { db, now, limits, pages, authBaseUrl } = options
  const action = `${pages.path}/calendar`
  const { findMember, attempt } = memberSignIn(options, action, 'calendar')
  const mayChange = requestLimit(limits, 'calendar-changes', MAX_CHANGES)

  const list = async (ctx: StepContext, member: Member, more: Partial<CalendarView> = {}) => {
    const [clubs, feeds] = await Promise.all([
      listOrganisations(db, member.id, ['club'], now()),
      listFeeds(db, member.id, now()),
    ])
    const shown = withLabels(clubs).map((club) => ({
      ...club,
      feeds: feeds.filter(({ clubId }) => clubId === club.id),
    }))
    const view = { action, connected: `${pages.path}/connected`, member: member.name, clubs: shown }
    sendPage(ctx, calendarPage({ ...pageContext(ctx), ...view, ...more }))
  }

  const change =
    (field: string, work: (member: Member, value: string) => Promise<Partial<CalendarView>>) =>
    async (ctx: StepContext) => {
      const member = await findMember(ctx)
      if (!member) return redirect(ctx, action)
      if (!(await mayChange(member.id))) throw errors.peopleLimited(60)
      const value = (await readForm(ctx)).get(field) ?? ''
      if (!isPostgresText(value)) throw errors.addressUnknown()
      return list(ctx, member, await work(member, value))
    }

  return {
    attempt,
    async get(ctx: StepContext) {
      const member = await findMember(ctx)
      return member ? list(ctx, member) : pages.signIn.showForm(ctx, attempt(ctx))
    },
    create: change('club', async (member, club) => {
      const clubs = await listOrganisations(db, member.id, ['club'], now())
      if (!clubs.some(({ id }) => id === club)) throw errors.addressUnknown()
      const secret = await createFeed(db, { member: member.id, club, grant: null }, now())
      return { created: { club, url: toAddress(authBaseUrl, secret) } }
    }),
    remove: change('address', async (member, id) => {
      if (!(await removeFeed(db, member.id, id))) throw errors.addressUnknown()
      return { removed: true }
    }),
  }
}
