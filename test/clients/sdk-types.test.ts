import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { expect, it } from 'vitest'
import type { Card } from '../../clients/sdk/card.ts'
import type { Answers, Client, Entry, Json, ListedEntry } from '../../clients/sdk/client.ts'
import type { AppRouter } from '../../routers/client-router.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Output = inferRouterOutputs<AppRouter>
type Input = inferRouterInputs<AppRouter>
type Answer<Method extends (...args: never) => unknown> = Awaited<ReturnType<Method>>
type Plain<T> = { [Name in keyof T]: T[Name] }
type Given<T> = { [Name in keyof Exclude<T, void>]-?: NonNullable<Exclude<T, void>[Name]> }

/** The functions of `me` that return something else than their procedures, or have none. */
type Wrong = {
  [Name in keyof Client['me']]: Name extends keyof Output['me']
    ? Same<Answer<Client['me'][Name]>, Output['me'][Name]> extends true
      ? never
      : Name
    : Name
}[keyof Client['me']]

type Names<T extends { me: unknown; webhook: unknown; quizzes: unknown }> =
  | keyof T['me']
  | keyof T['webhook']
  | Exclude<keyof T['quizzes'], 'review' | 'get' | 'result'>
/** Functions without a procedure, and procedures without a function. Reviews are for first-party clients; `sync` reads quizzes. */
type Unpaired = Exclude<Names<Client>, Names<Output>> | Exclude<Names<Output>, Names<Client>>

/** Written by hand, each is what the procedure returns or takes: tsc fails at the line of one that is not. */
const same: {
  root: Same<Answer<Client['root']>, Output['root']>
  me: [Wrong] extends [never] ? true : Wrong
  cardCode: Same<Answer<Card['code']>, Output['card']['code']>
  submit: Same<Answer<Client['quizzes']['submit']>, Output['quizzes']['submit']>
  webhookGet: Same<Answer<Client['webhook']['get']>, Output['webhook']['get']>
  webhookPut: Same<Answer<Client['webhook']['put']>, Output['webhook']['put']>
  entry: Same<Entry<Json>, Output['storage']['get']>
  listed: Same<Plain<ListedEntry<Json>>, Plain<Omit<Output['storage']['list']['items'][number], 'etag'>>>
  names: [Unpaired] extends [never] ? true : Unpaired
  range: Same<Given<Parameters<Client['me']['events']>[0]>, Given<Input['me']['events']>>
  scope: Same<
    NonNullable<NonNullable<Parameters<Client['storage']>[1]>['scope']>,
    NonNullable<Input['storage']['get']['scope']>
  >
} = {
  root: true,
  me: true,
  cardCode: true,
  submit: true,
  webhookGet: true,
  webhookPut: true,
  entry: true,
  listed: true,
  names: true,
  range: true,
  scope: true,
}

it('the types of the SDK are those of the router', () => {
  expect(Object.values(same)).not.toContain(false)
  // What the service takes, this takes.
  const answers: Answers = { q1: 'B', q2: ['A', 'C'] }
  const input: Input['quizzes']['submit'] = { quizId: 'quiz', answers }
  expect(input.answers).toBe(answers)
})
