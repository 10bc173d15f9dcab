import { randomUUID } from 'node:crypto'
import { readFullName } from '../../browser/login/persons.ts'
import { sendMessage } from '../../browser/page-responses.ts'
import type { SignInAttempt } from '../../browser/sign-in/pages.ts'
import type { StepContext } from '../../http/state.ts'
import type { PageOptions } from './page-options.ts'

const ATTEMPT = 'member_attempt'

export interface Member {
  id: string
  name: string
}

/** The sign-in to a page for members, which needs no app, and the sign-out there. */
export function memberSignIn(
  { db, now, pages: { cookies, readSession } }: Pick<PageOptions, 'db' | 'now' | 'pages'>,
  action: string,
  pages?: 'clubs' | 'calendar' | 'cards' | 'family',
) {
  return {
    async findMember(ctx: StepContext): Promise<Member | undefined> {
      const { person } = await readSession(ctx)
      const name = person === undefined ? null : await readFullName(db, person)
      return name === null ? undefined : { id: person!, name }
    },
    attempt(ctx: StepContext): SignInAttempt {
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
    },
    async signOut(ctx: StepContext) {
      await (await readSession(ctx)).signOut()
      sendMessage(ctx, 'signedOut', 200)
    },
  }
}
