import type { Database } from '../../prisma/client.ts'
import { isPostgresText } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'
import type { StepContext } from '../http/state.ts'
import { nameOf } from './consents.ts'
import type { EmailCodes } from './login/email-code.ts'
import type { Upstream } from './login/upstream.ts'
import { personsOf, remember } from './login/upstream.ts'
import { goTo, languageFor, show } from './page-answers.ts'
import type { AppView, Problem } from './pages/pages.ts'
import { codePage, personPage, signInPage } from './pages/pages.ts'
import { pickable } from './pick.ts'
import type { SealedCookies } from './sealed-cookies.ts'

/** How members can sign in here. */
export interface LoginMethods {
  codes: EmailCodes | null
  upstream: Upstream | null
  /** For a machine that one develops on: whoever comes picks who they are. */
  pick: boolean
}

/** A sign-in under way, in one browser. */
export interface Attempt {
  /** What codes and cookies are bound to. */
  id: string
  /** The address of its page; what it asks for is below. */
  action: string
  app: AppView | null
  /** Signs the person in, and says where the browser goes on. */
  finish: (person: string) => Promise<string>
}

interface Parts {
  db: Database
  now: () => number
  ways: LoginMethods
  cookies: SealedCookies
  /** Where the outside sign-in sends the browser back to. */
  returnPath: string
}

/** Who a browser may sign in as: it showed a code, or comes back from the outside. */
interface Found {
  id: string
  persons: { id: string; name: string }[]
  who?: { issuer: string; subject: string }
  problem?: Problem
}

const [EMAIL, FOUND, AWAY] = ['member_email', 'member_found', 'member_away']

export type SignIn = ReturnType<typeof signIn>

/** The steps of signing in, the same for an app's request and for the page of connected apps. */
export function signIn({ db, now, ways, cookies, returnPath }: Parts) {
  const page = async (ctx: StepContext, { action, app }: Attempt, problem?: Problem) =>
    show(
      ctx,
      signInPage({
        language: languageFor(ctx),
        action,
        app,
        email: ways.codes !== null,
        upstream: ways.upstream?.name ?? null,
        members: ways.pick ? await pickable(db) : null,
        ...(problem && { problem }),
      }),
      problem ? 400 : 200,
    )

  const finish = async (ctx: StepContext, attempt: Attempt, person: string, who?: Found['who']) => {
    if (who) await remember(db, who, person)
    cookies.remove(ctx, FOUND, attempt.action)
    cookies.remove(ctx, EMAIL, attempt.action)
    goTo(ctx, await attempt.finish(person))
  }

  /** One person is signed in at once; several choose. */
  const settle = async (ctx: StepContext, attempt: Attempt, { persons, who, problem }: Found) => {
    const [person] = persons
    if (problem || !person) return page(ctx, attempt, problem ?? 'memberUnknown')
    if (persons.length === 1) return finish(ctx, attempt, person.id, who)
    return show(ctx, personPage({ language: languageFor(ctx), action: attempt.action, persons }))
  }

  const keep = (ctx: StepContext, action: string, found: Found) => cookies.put(ctx, FOUND, action, found)
  const foundBefore = (ctx: StepContext, { id }: Attempt) => {
    const found = cookies.get<Found>(ctx, FOUND)
    return found?.id === id ? found : undefined
  }

  const steps: Record<string, (ctx: StepContext, attempt: Attempt, form: URLSearchParams) => Promise<unknown>> = {
    async email(ctx, attempt, form) {
      if (!ways.codes) throw errors.addressUnknown()
      const email = (form.get('email') ?? '').trim()
      const language = languageFor(ctx)
      const sent = await ways.codes.send(attempt.id, email, language, ctx.req.socket.remoteAddress ?? '')
      if (sent !== 'sent') return page(ctx, attempt, sent)
      cookies.put(ctx, EMAIL, attempt.action, email)
      return show(ctx, codePage({ language, action: attempt.action, email }))
    },
    async code(ctx, attempt, form) {
      const email = cookies.get<string>(ctx, EMAIL)
      if (!ways.codes || email === undefined) return page(ctx, attempt, 'codeExpired')
      const checked = await ways.codes.check(attempt.id, form.get('code') ?? '')
      if (checked === 'codeExpired') return page(ctx, attempt, checked)
      if (checked === 'codeWrong') {
        return show(ctx, codePage({ language: languageFor(ctx), action: attempt.action, email, problem: checked }), 400)
      }
      const found = { id: attempt.id, persons: checked.persons }
      keep(ctx, attempt.action, found)
      return settle(ctx, attempt, found)
    },
    async pick(ctx, attempt, form) {
      const person = form.get('member') ?? ''
      if (!ways.pick) throw errors.addressUnknown()
      if (!isPostgresText(person) || (await nameOf(db, person)) === null) return page(ctx, attempt, 'memberUnknown')
      return finish(ctx, attempt, person)
    },
    async person(ctx, attempt, form) {
      const found = foundBefore(ctx, attempt)
      const person = found?.persons.find(({ id }) => id === form.get('person'))
      if (!found || !person) return page(ctx, attempt, 'memberUnknown')
      // An account that several share is nobody's own: they choose each time.
      return finish(ctx, attempt, person.id)
    },
  }

  return {
    page,
    steps: Object.keys(steps),
    post: (ctx: StepContext, attempt: Attempt, step: string, form: URLSearchParams) => steps[step]!(ctx, attempt, form),
    /** Off to the outside sign-in. What its answer is checked with stays in this browser. */
    async leave(ctx: StepContext, attempt: Attempt) {
      if (!ways.upstream) throw errors.addressUnknown()
      const begun = await ways.upstream.begin().catch((cause) => {
        ctx.state.cause = cause
      })
      if (!begun) return page(ctx, attempt, 'upstreamFailed')
      const { id, action } = attempt
      const { url, kept } = begun
      cookies.put(ctx, AWAY, returnPath, { id, action, kept })
      return goTo(ctx, url)
    },
    /** Back from there, at an address of its own; the attempt's page goes on. */
    async comeBack(ctx: StepContext, returned: URL) {
      const away = cookies.get<{ id: string; action: string; kept: string }>(ctx, AWAY)
      if (!ways.upstream || !away) throw errors.addressUnknown()
      cookies.remove(ctx, AWAY, returnPath)
      const { id, action, kept } = away
      const who = await ways.upstream.finish(returned, kept).catch((cause) => {
        ctx.state.cause = cause
      })
      const persons = who ? await personsOf(db, who, now()) : []
      keep(ctx, action, { id, persons, ...(who ? { who } : { problem: 'upstreamFailed' as const }) })
      goTo(ctx, `${action}/person`)
    },
    /** What came of it. */
    async arrive(ctx: StepContext, attempt: Attempt) {
      const found = foundBefore(ctx, attempt)
      return found ? settle(ctx, attempt, found) : goTo(ctx, attempt.action)
    },
  }
}
