import { isGuardian } from '../../../routers/approvals/child-requests.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { readForm } from '../../browser/forms.ts'
import { pageContext } from '../../browser/page-context.ts'
import { redirect } from '../../browser/page-responses.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import { childEntries } from '../consents/club-entries.ts'
import type { Outcome } from './child-decisions.ts'
import { decideOnForm, findChildEntry, toStatus } from './child-decisions.ts'
import { parseQuery, readPage } from './club-apps.ts'
import type { Member } from './member-sign-in.ts'
import { memberSignIn } from './member-sign-in.ts'
import type { PageOptions } from './page-options.ts'
import { fields, noClubPage } from './views/club.ts'
import { removePage } from './views/connected.ts'
import { familyPage } from './views/family.ts'

/** Decisions per minute and guardian. */
const MAX_DECISIONS = 30

/** The pages on which guardians decide about the apps of children. */
export function familyApps(options: PageOptions & { consentAges: NonNullable<PageOptions['consentAges']> }) {
  const { db, now, limits, pages, consentAges: ages } = options
  const action = `${pages.path}/family`
  const { findMember, attempt, signOut } = memberSignIn(options, action, 'family')
  const mayDecide = requestLimit(limits, 'family-decisions', MAX_DECISIONS)

  const list = async (ctx: StepContext, { id: person, name }: Member, more: Outcome = {}) => {
    const view = { ...pageContext(ctx), action }
    if (!(await isGuardian(db, person, now()))) {
      return sendPage(ctx, noClubPage({ ...view, member: name, pages: 'family' }), 403)
    }
    const page = readPage(ctx)
    const listed = await childEntries(db, { person, club: null, ages, now: now(), page })
    sendPage(ctx, familyPage({ ...view, ...listed, page, ...more }), toStatus(more))
  }

  const act = (state: 'approved' | 'refused' | 'withdrawn') => async (ctx: StepContext) => {
    const form = await readForm(ctx)
    const member = await findMember(ctx)
    if (!member) return redirect(ctx, action)
    if (!(await mayDecide(member.id))) throw errors.peopleLimited(60)
    return list(ctx, member, await decideOnForm(options, form, state, { person: member.id, club: null }))
  }

  return {
    attempt,
    signOut,
    async get(ctx: StepContext) {
      const member = await findMember(ctx)
      return member ? list(ctx, member) : pages.signIn.showForm(ctx, attempt(ctx))
    },
    /** Asks first. */
    async remove(ctx: StepContext) {
      const member = await findMember(ctx)
      const by = { person: member?.id ?? '', club: null }
      const entry = member && (await findChildEntry(options, parseQuery(ctx), by))
      if (!entry?.child) return redirect(ctx, action)
      const { app, child } = entry
      const connected = { app, organisation: child.clubName }
      const view = { ...pageContext(ctx), action, member: child.name, connected, fields: fields(entry) }
      sendPage(ctx, removePage(view))
    },
    approve: act('approved'),
    refuse: act('refused'),
    withdraw: act('withdrawn'),
  }
}
