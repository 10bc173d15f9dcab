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

/** The id of a sign-in, which the former release reads too, and the address of the page to which it leads, kept after it. */
const [ATTEMPT, ADDRESS] = ['member_attempt', 'member_address']

/** Characters of a query that the cookie keeps, which is one of at most 4,096 bytes then. */
const MAX_KEPT = 2_000

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
  const withQuery = ({ state: { search } }: StepContext, address: string) =>
    search.length > MAX_KEPT ? action : address + (search && `?${search}`)
  const readAttempt = (ctx: StepContext) => cookies.get<string>(ctx, ATTEMPT)
  const readAddress = (ctx: StepContext) => cookies.get<string>(ctx, ADDRESS) ?? action
  const attempt = (ctx: StepContext, wanted?: string): SignInAttempt => {
    const current = readAttempt(ctx)
    const id = current ?? randomUUID()
    if (id !== current) cookies.set(ctx, ATTEMPT, action, id)
    const kept = readAddress(ctx)
    const address = wanted ?? kept
    if (id !== current || address !== kept) cookies.set(ctx, ADDRESS, action, address)
    return {
      id,
      action,
      address,
      app: null,
      ...(pages && { pages }),
      async finish(person) {
        cookies.clear(ctx, ATTEMPT, action)
        // For a form that was sent twice.
        cookies.set(ctx, ADDRESS, action, address)
        await (await readSession(ctx)).signIn(person, now())
        return address
      },
    }
  }
  const forMember =
    (respond: Respond<[Member]>, orElse: (ctx: StepContext) => unknown): Respond =>
    async (ctx) => {
      const member = await findMember(ctx)
      return member ? respond(ctx, member) : orElse(ctx)
    }
  /** A step's query is that of the page which it belongs to. */
  const toPage = (ctx: StepContext) => redirect(ctx, withQuery(ctx, action))

  const posted = (respond: Respond<[Member, URLSearchParams]>, isWithinLimit?: ReturnType<typeof requestLimit>) =>
    forMember(async (ctx, member) => {
      if (isWithinLimit && !(await isWithinLimit(member.id))) throw errors.peopleLimited(60)
      return respond(ctx, member, await readForm(ctx))
    }, toPage)
  const signOut = async (ctx: StepContext) => {
    await (await readSession(ctx)).signOut()
    sendMessage(ctx, 'signedOut', 200)
  }

  return {
    action,
    /** Without a member, the sign-in, which leads to the address of the request. */
    shown: (respond: Respond<[Member]>) =>
      forMember(respond, (ctx) => signIn.showForm(ctx, attempt(ctx, withQuery(ctx, ctx.state.path)))),
    /** For a form of the page; without a member, redirects to it. Throws 429. */
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
        if (!(step in gets)) page('get', at + step, async (ctx) => toPage(ctx))
      }
      signInAt(at, async (ctx) => {
        // A form that was sent twice, or another tab's way back from the provider: the member has signed in.
        const isOver = readAttempt(ctx) === undefined && ctx.state.path !== `${action}/upstream`
        if (isOver && (await findMember(ctx))) throw new Elsewhere(readAddress(ctx))
        return attempt(ctx)
      })
    },
  }
}
