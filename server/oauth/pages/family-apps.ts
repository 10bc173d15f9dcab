import { isGuardian } from '../../../routers/approvals/child-requests.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { childEntries } from '../consents/club-entries.ts'
import { askRemoval, decideOnForm, readPage, toStatus } from './child-decisions.ts'
import type { Member } from './member-page.ts'
import { memberPage } from './member-page.ts'
import type { PageOptions } from './page-options.ts'
import type { Outcome } from './views/club.ts'
import { listQuery, noClubPage } from './views/club.ts'
import { familyPage } from './views/family.ts'

/** The pages on which guardians decide about the apps of children. */
export function addFamilyApps(options: PageOptions & { consentAges: NonNullable<PageOptions['consentAges']> }) {
  const { db, now, consentAges: ages } = options
  const { action, shown, addRoutes, decisions } = memberPage(options, '/family', 'family')
  const toDecider = ({ id }: Member) => ({ person: id, club: null })

  const list = async (ctx: StepContext, member: Member, more: Outcome = {}) => {
    const view = { ...pageContext(ctx), action }
    if (!(await isGuardian(db, member.id, now()))) {
      return sendPage(ctx, noClubPage({ ...view, member: member.name, pages: 'family' }), 403)
    }
    const page = readPage(ctx)
    const listed = await childEntries(db, { ...toDecider(member), ages, now: now(), page })
    sendPage(ctx, familyPage({ ...view, ...listed, page, ...more }), toStatus(more))
  }

  addRoutes({
    gets: {
      '': shown((ctx, member) => list(ctx, member)),
      '/remove': shown(async (ctx, member) => {
        const list = action + listQuery({ page: readPage(ctx) })
        if (!(await askRemoval(options, ctx, action, toDecider(member)))) redirect(ctx, list)
      }),
    },
    posts: decisions(async (ctx, member, form, state) =>
      list(ctx, member, await decideOnForm(options, form, state, toDecider(member))),
    ),
  })
}
