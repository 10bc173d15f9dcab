import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server'
import { expect, it } from 'vitest'
import type { Answers, Client, Entry, Json, ListedEntry } from '../../clients/sdk/client.ts'
import type { AppRouter } from '../../routers/client-router.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Output = inferRouterOutputs<AppRouter>
type Input = inferRouterInputs<AppRouter>
type Answer<Method extends (...args: never) => unknown> = Awaited<ReturnType<Method>>
type Plain<T> = { [Name in keyof T]: T[Name] }
type Given<T> = { [Name in keyof Exclude<T, void>]-?: NonNullable<Exclude<T, void>[Name]> }

/** Written by hand, each is what the procedure returns or takes: tsc fails at the line of one that is not. */
const same: {
  root: Same<Answer<Client['root']>, Output['root']>
  profile: Same<Answer<Client['me']['profile']>, Output['me']['profile']>
  groups: Same<Answer<Client['me']['groups']>['items'], Output['me']['groups']['items']>
  events: Same<Answer<Client['me']['events']>['items'], Output['me']['events']['items']>
  trainingplans: Same<Answer<Client['me']['trainingplans']>['items'], Output['me']['trainingplans']['items']>
  competitions: Same<Answer<Client['me']['competitions']>['items'], Output['me']['competitions']['items']>
  membercard: Same<Answer<Client['me']['membercard']>, Output['me']['membercard']>
  submit: Same<Answer<Client['quizzes']['submit']>, Output['quizzes']['submit']>
  webhookGet: Same<Answer<Client['webhook']['get']>, Output['webhook']['get']>
  webhookPut: Same<Answer<Client['webhook']['put']>, Output['webhook']['put']>
  entry: Same<Entry<Json>, Output['storage']['get']>
  listed: Same<Plain<ListedEntry<Json>>, Plain<Omit<Output['storage']['list']['items'][number], 'etag'>>>
  names: Same<
    keyof Client['me'] | keyof Client['webhook'] | keyof Client['quizzes'],
    keyof Output['me'] | keyof Output['webhook'] | Exclude<keyof Output['quizzes'], 'review'>
  >
  range: Same<Given<Parameters<Client['me']['events']>[0]>, Given<Input['me']['events']>>
  scope: Same<
    NonNullable<NonNullable<Parameters<Client['storage']>[1]>['scope']>,
    NonNullable<Input['storage']['get']['scope']>
  >
} = {
  root: true,
  profile: true,
  groups: true,
  events: true,
  trainingplans: true,
  competitions: true,
  membercard: true,
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
