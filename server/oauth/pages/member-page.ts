import { randomUUID } from 'node:crypto'
import type { Decided } from '../../../routers/approvals/decide.ts'
import { errors } from '../../../routers/kernel/errors.ts'
import { readForm } from '../../browser/forms.ts'
import { readFullName } from '../../browser/login/persons.ts'
import { Elsewhere, redirect, sendMessage } from '../../browser/page-responses.ts'
import type { SignInAttempt } from '../../browser/sign-in/pages.ts'
import type { StepContext } from '../../http/state.ts'
import { requestLimit } from '../../limits/limit.ts'
import type { PageOptions } from './page-options.ts'

const ATTEMPT = 'member_attempt'

/** Per minute and person: each of an administrator is an entry of an app's audit log. */
const MAX_DECISIONS = 30

export interface Member {
  id: string
  name: string
}

type Respond<Of extends unknown[] = []> = (ctx: StepContext, ...of: Of) => Promise<unknown>

/** Addresses below the page's, '' for its own, and the addresses of its forms. */
interface Steps {
  gets: Readonly<Record<string, Respond>>
  posts: Readonly<Record<string, Respond>>
}

/** A page for members at `at` below the issuer's path, which needs no app: the sign-in to it, and the sign-out there. */
export function memberPage(
  { db, now, limits, pages: { path, cookies, readSession, page, signIn, signInAt } }: PageOptions,
  at: string,
  pages?: SignInAttempt['pages'],
) {
  const action = `${path}${at}`
  const findMember = async (ctx: StepContext): Promise<Member | undefined> => {
    const { person } = await readSession(ctx)
    const name = person === undefined ? null : await readFullName(db, person)
    return name === null ? undefined : { id: person!, name }
  }
  /** Also for a form that was sent twice: the member has signed in. */
  const isOver = (ctx: StepContext) => cookies.get<string>(ctx, ATTEMPT) === undefined
  const attempt = (ctx: StepContext): SignInAttempt => {
    const current = cookies.get<string>(ctx, ATTEMPT)
    const id = current ?? randomUUID()
    if (current === undefined) cookies.set(ctx, ATTEMPT, action, id)
    return {
      id,
      action,
      app: null,
      ...(pages && { pages }),
      async finish(person) {
        cookies.clear(ctx, ATTEMPT, action)
        await (await readSession(ctx)).signIn(person, now())
        return action
      },
    }
  }
  const forMember =
    (respond: Respond<[Member]>, orElse: (ctx: StepContext) => unknown): Respond =>
    async (ctx) => {
      const member = await findMember(ctx)
      return member ? respond(ctx, member) : orElse(ctx)
    }
  const signedIn = (respond: Respond<[Member]>) => forMember(respond, (ctx) => redirect(ctx, action))

  const posted = (respond: Respond<[Member, URLSearchParams]>, isWithinLimit?: ReturnType<typeof requestLimit>) =>
    signedIn(async (ctx, member) => {
      if (isWithinLimit && !(await isWithinLimit(member.id))) throw errors.peopleLimited(60)
      return respond(ctx, member, await readForm(ctx))
    })
  const signOut = async (ctx: StepContext) => {
    await (await readSession(ctx)).signOut()
    sendMessage(ctx, 'signedOut', 200)
  }

  return {
    action,
    /** Without a member, the sign-in. */
    shown: (respond: Respond<[Member]>) => forMember(respond, (ctx) => signIn.showForm(ctx, attempt(ctx))),
    /** Without a member, redirects to the page. */
    signedIn,
    /** For a form of the page. Throws 429. */
    posted,
    signOut,
    /** The forms of a page on which the member decides about apps. */
    decisions(decide: Respond<[Member, URLSearchParams, Decided]>) {
      const isWithinLimit = requestLimit(limits, `${at.slice(1)}-decisions`, MAX_DECISIONS)
      const act = (state: Decided) => posted((ctx, member, form) => decide(ctx, member, form, state), isWithinLimit)
      return {
        '/approve': act('approved'),
        '/refuse': act('refused'),
        '/withdraw': act('withdrawn'),
        '/sign-out': signOut,
      }
    },
    addRoutes({ gets, posts }: Steps) {
      for (const [step, respond] of Object.entries(gets)) page('get', at + step, respond)
      for (const [step, respond] of Object.entries(posts)) {
        page('post', at + step, respond)
        // The address that a form led to, reopened.
        if (!(step in gets)) page('get', at + step, async (ctx) => redirect(ctx, action))
      }
      signInAt(at, async (ctx) => {
        if (ctx.method === 'POST' && isOver(ctx) && (await findMember(ctx))) throw new Elsewhere(action)
        return attempt(ctx)
      })
    },
  }
}
