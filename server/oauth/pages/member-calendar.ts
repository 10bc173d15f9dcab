import { createFeed, toAddress } from '../../../routers/calendar/feeds.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { withLabels } from '../../../routers/kernel/labels.ts'
import { pageContext } from '../../browser/page-context.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { listFeeds, removeFeed } from '../consents/calendar-feeds.ts'
import { listOrganisations } from '../consents/consents.ts'
import type { Member } from './member-page.ts'
import { memberPage } from './member-page.ts'
import type { PageOptions } from './page-options.ts'
import type { CalendarView } from './views/calendar.ts'
import { calendarPage } from './views/calendar.ts'

/** Per minute and member. */
const MAX_CHANGES = 30

/** The page with the addresses at which a member's calendar programs read the events of their clubs. */
export function addMemberCalendar(options: PageOptions) {
  const { db, now, limits, authBaseUrl } = options
  const { action, shown, posted, addRoutes } = memberPage(options, '/calendar', 'calendar')
  const mayChange = requestLimit(limits, 'calendar-changes', MAX_CHANGES)

  const list = async (ctx: StepContext, member: Member, more: Partial<CalendarView> = {}) => {
    const [clubs, feeds] = await Promise.all([
      listOrganisations(db, member.id, ['club'], now()),
      listFeeds(db, member.id, now()),
    ])
    const listed = withLabels(clubs).map((club) => ({
      ...club,
      feeds: feeds.filter(({ clubId }) => clubId === club.id),
    }))
    const view = { action, member: member.name, clubs: listed }
    sendPage(ctx, calendarPage({ ...pageContext(ctx), ...view, ...more }))
  }

  const change = (field: string, work: (member: Member, value: string) => Promise<Partial<CalendarView>>) =>
    posted(async (ctx, member, form) => {
      const value = form.get(field) ?? ''
      if (!isPostgresText(value)) throw errors.addressUnknown()
      return list(ctx, member, await work(member, value))
    }, mayChange)

  addRoutes({
    gets: { '': shown((ctx, member) => list(ctx, member)) },
    posts: {
      '/create': change('club', async (member, club) => {
        const clubs = await listOrganisations(db, member.id, ['club'], now())
        if (!clubs.some(({ id }) => id === club)) throw errors.addressUnknown()
        const secret = await createFeed(db, { member: member.id, club, grant: null }, now())
        return { created: { club, url: toAddress(authBaseUrl, secret) } }
      }),
      '/remove': change('address', async (member, id) => {
        if (!(await removeFeed(db, member.id, id))) throw errors.addressUnknown()
        return { removed: true }
      }),
    },
  })
}
