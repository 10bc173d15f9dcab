import { reasonFault } from '../../../routers/approvals/decide.ts'
import type { ChildDecision } from '../../../routers/approvals/decide-for-child.ts'
import { decideForChild } from '../../../routers/approvals/decide-for-child.ts'
import { isPostgresText } from '../../../routers/kernel/access.ts'
import { ApiError, errors } from '../../../routers/kernel/errors.ts'
import { pageContext } from '../../browser/page-context.ts'
import type { Problem } from '../../browser/pages/views.ts'
import { sendPage } from '../../browser/send-page.ts'
import type { StepContext } from '../../http/state.ts'
import { childEntries } from '../consents/club-entries.ts'
import type { PageOptions } from './page-options.ts'
import type { Outcome } from './views/club.ts'
import { fields, listQuery } from './views/club.ts'
import { removePage } from './views/connected.ts'

export const toStatus = ({ problem }: Outcome) => (problem === 'decidedMeanwhile' ? 409 : problem ? 400 : 200)

const MAX_PAGE = 10_000

/** The page of a list, from 0. */
export function readPage(ctx: StepContext): number {
  const page = Number(new URLSearchParams(ctx.state.search).get('page'))
  return Number.isInteger(page) && page > 0 && page <= MAX_PAGE ? page : 0
}

function reasonProblem(reason: string): Problem | undefined {
  const fault = reasonFault(reason)?.reason
  return fault && (fault === 'unseen' || fault === 'stray' ? 'reasonUnseen' : 'reasonInvalid')
}

interface By {
  person: string
  /** The administrator's; null for a guardian. */
  club: string | null
}

/** Reads the app of a child that a form or address names. Undefined for who does not decide about it. */
async function findChildEntry({ db, now, consentAges }: PageOptions, form: URLSearchParams, by: By) {
  const [child = '', club = '', app = ''] = ['child', 'club', 'app'].map((name) => form.get(name) ?? '')
  if (!consentAges || ![child, club, app].every(isPostgresText) || (by.club !== null && by.club !== club))
    return undefined
  const { entries } = await childEntries(db, { ...by, ages: consentAges, now: now(), one: { child, club, app } })
  return entries[0]
}

/** Asks before the access that an address names is removed; returns whether it has. */
export async function askRemoval(options: PageOptions, ctx: StepContext, action: string, by: By): Promise<boolean> {
  const entry = await findChildEntry(options, new URLSearchParams(ctx.state.search), by)
  if (!entry) return false
  const { app, child } = entry
  const view = { member: child.name, connected: { app, organisation: child.clubName }, fields: fields(entry) }
  const query = listQuery({ club: by.club === null ? undefined : { id: by.club }, page: readPage(ctx) })
  sendPage(ctx, removePage({ ...pageContext(ctx), action, query, ...view }))
  return true
}

export async function decideOnForm(
  options: PageOptions,
  form: URLSearchParams,
  state: ChildDecision['state'],
  by: By,
): Promise<Outcome> {
  const { db, now, consentAges } = options
  const entry = await findChildEntry(options, form, by)
  if (!entry) throw errors.addressUnknown()
  const { id: app, club } = entry
  const decision = { child: entry.child.id, club, app, state, version: Number(form.get('version')) }
  const as = by.club === null ? 'guardian' : 'administrator'
  const decider = { person: by.person, as, at: new Date(now()), ages: consentAges! } as const
  return attemptDecision(options, { entry, state }, form, (reason) =>
    decideForChild(db, { ...decision, reason }, decider),
  )
}

/**
 * Decides, unless the reason is not valid, or somebody was faster. A refusal has one, for a child it may. `decide` returns how many
 * consents it has ended.
 */
export async function attemptDecision(
  { due }: Pick<PageOptions, 'due'>,
  decided: NonNullable<Outcome['decided']>,
  form: URLSearchParams,
  decide: (reason: string | null) => Promise<number>,
): Promise<Outcome> {
  const given = decided.state === 'refused' ? (form.get('reason') ?? '').trim() : null
  const reason = decided.entry.child ? given || null : given
  const problem = reason === null ? undefined : reasonProblem(reason)
  const troubled = { troubled: decided.entry, typed: form.get('reason') ?? '' }
  if (problem) return { problem, ...troubled }
  try {
    if ((await decide(reason)) > 0) due.wake()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    return { problem: 'decidedMeanwhile', ...troubled }
  }
  return { decided }
}
