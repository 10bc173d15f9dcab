import type { Database } from '../../../prisma/client.ts'
import { offerInvitations } from '../../../routers/developer/teams/invited.ts'
import { MAX_EMAIL_LENGTH } from '../../../routers/kernel/email-address.ts'
import type { StepContext } from '../../http/state.ts'
import type { EncryptedCookies } from '../encrypted-cookies.ts'
import type { Browsers } from '../known-browsers.ts'
import { selectableMembers } from '../login/development.ts'
import type { LoginMethods } from '../login/methods.ts'
import type { Person } from '../login/persons.ts'
import { saveIdentity } from '../login/upstream-identity.ts'
import { pageContext } from '../page-context.ts'
import { redirect } from '../page-responses.ts'
import { codePage, personPage, signInPage } from '../pages/sign-in.ts'
import type { AppView, Problem } from '../pages/views.ts'
import { sendPage } from '../send-page.ts'
import { rememberLanguage } from './remembered-language.ts'

export interface SignInAttempt {
  /** Codes and cookies are bound to it. */
  id: string
  action: string
  /** The page with its form; by default `action`. */
  address?: string
  /** Null when the member signs in to this service's own pages. */
  app: AppView | null
  /** The service's own pages to sign in to; by default the connected apps. */
  pages?: 'developers' | 'clubs' | 'calendar' | 'cards' | 'family'
  /** What the app takes for the member's e-mail address, whether or not a member has it. */
  hint?: string | null
  finish: (person: string) => Promise<string>
}

/** The members that a browser may sign in as, after a correct code or upstream sign-in. */
export interface Candidates {
  id: string
  persons: Person[]
  identity?: { issuer: string; subject: string }
  /** The e-mail address whose code was entered, to be remembered in the browser. */
  email?: string
  /** The address that the code or the upstream provider has verified, for invitations to teams. */
  proved?: string
  problem?: Problem
}

export interface SignInOptions {
  db: Database
  now: () => number
  loginMethods: LoginMethods
  cookies: EncryptedCookies
  browsers: Browsers
  callbackPath: string
}

const [EMAIL, CANDIDATES, REFUSED] = ['member_email', 'member_found', 'member_refused']

/** The page with the attempt's form. */
export const toForm = ({ action, address = action }: SignInAttempt) => address

export type SignInPages = ReturnType<typeof createSignInPages>

export function createSignInPages({ db, now, loginMethods, cookies, browsers }: SignInOptions) {
  const readEmail = (ctx: StepContext) => cookies.get<string>(ctx, EMAIL)

  /** After a problem, the field has what was typed there, now or for the last code. */
  const showForm = async (
    ctx: StepContext,
    { action, app, pages, hint }: SignInAttempt,
    problem?: Problem,
    typed?: string,
  ) => {
    const email = typed ?? (problem && readEmail(ctx)) ?? hint
    const page = signInPage({
      ...pageContext(ctx),
      action,
      app,
      email: loginMethods.codes !== null,
      upstream: loginMethods.upstream?.name ?? null,
      members: loginMethods.developmentLogin ? await selectableMembers(db) : null,
      ...(pages && { pages }),
      ...(email && { hint: email.slice(0, MAX_EMAIL_LENGTH) }),
      ...(problem && { problem }),
    })
    sendPage(ctx, page, problem ? 400 : 200)
  }

  const complete = async (
    ctx: StepContext,
    attempt: SignInAttempt,
    person: string,
    { identity, email, proved }: Partial<Candidates> = {},
  ) => {
    if (proved !== undefined) await offerInvitations(db, { email: proved, now: new Date(now()) }, person)
    if (identity) await saveIdentity(db, identity, person)
    if (email !== undefined) browsers.remember(ctx, email)
    cookies.clear(ctx, CANDIDATES, attempt.action)
    cookies.clear(ctx, EMAIL, attempt.action)
    await rememberLanguage(db, person, pageContext(ctx).w.language)
    redirect(ctx, await attempt.finish(person))
  }

  return {
    showForm,
    complete,
    /** Signs in the only candidate, or asks the visitor to choose one. */
    async select(ctx: StepContext, attempt: SignInAttempt, candidates: Candidates) {
      const { persons, problem } = candidates
      const [person] = persons
      if (problem || !person) return showForm(ctx, attempt, problem ?? 'memberUnknown')
      if (persons.length === 1) return complete(ctx, attempt, person.id, candidates)
      sendPage(ctx, personPage({ ...pageContext(ctx), action: attempt.action, form: toForm(attempt), persons }))
    },
    showCode(ctx: StepContext, attempt: SignInAttempt, email: string, problem?: Problem) {
      const view = { ...pageContext(ctx), action: attempt.action, form: toForm(attempt), email }
      sendPage(ctx, codePage({ ...view, ...(problem && { problem }) }), problem ? 400 : 200)
    },
    saveCandidates: (ctx: StepContext, action: string, candidates: Candidates) =>
      cookies.set(ctx, CANDIDATES, action, candidates),
    candidates(ctx: StepContext, { id }: SignInAttempt) {
      const candidates = cookies.get<Candidates>(ctx, CANDIDATES)
      return candidates?.id === id ? candidates : undefined
    },
    saveEmail: (ctx: StepContext, action: string, email: string) => cookies.set(ctx, EMAIL, action, email),
    email: readEmail,
    /** Whether the last request for a code was refused; the code before it may still be entered. */
    isRefused: (ctx: StepContext) => cookies.get(ctx, REFUSED) !== undefined,
    setRefused(ctx: StepContext, action: string, isRefused: boolean) {
      const path = `${action}/email`
      if (isRefused) cookies.set(ctx, REFUSED, path, true)
      else if (cookies.get(ctx, REFUSED)) cookies.clear(ctx, REFUSED, path)
    },
    clearEmail: (ctx: StepContext, action: string) => cookies.clear(ctx, EMAIL, action),
  }
}
