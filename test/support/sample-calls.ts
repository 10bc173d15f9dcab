import { documents } from '../../rest-facade/openapi.ts'
import type { Route } from '../../rest-facade/routes.ts'
import { routes } from '../../rest-facade/routes.ts'
import type { Section, TokenSection } from '../../routers/kernel/scopes.ts'

/** A call that succeeds, over REST and by its procedure. */
export interface SampleCall {
  section: Section
  /** The section whose tokens it takes. */
  tokens: TokenSection
  /** Whether the app itself calls. */
  isOfApp: boolean
  method: string
  /** Below `/v1`, with its query. */
  path: string
  body?: object
  /** Undefined without fields. */
  input?: object
}

/** What has to exist, by field of the input: ids, and answers to their quiz. The examples are those of the demo data. */
type Existing = Readonly<Partial<Record<'id' | 'addressId' | 'quizId' | 'resultId' | 'answers', unknown>>>

/** A call of each endpoint, by procedure: the examples of its document, but for what has to exist. */
export const sampleCalls = (existing: Existing = {}): Record<string, SampleCall> =>
  Object.fromEntries(routes.map((route) => [route.name, buildCall(route, existing)]))

function buildCall(
  { section, meta, method, path, parameters, fromQuery, fromBody }: Route,
  existing: Existing,
): SampleCall {
  const operation = documents()[section].paths[path]![method.toLowerCase()]!
  const examples = {
    ...Object.fromEntries((operation.parameters ?? []).map(({ name, example }) => [name, example])),
    ...(operation.requestBody?.content['application/json'].examples?.sample?.value as object),
    ...existing,
  } as Record<string, string>
  const pick = (names: Iterable<string>) => Object.fromEntries([...names].map((name) => [name, examples[name]!]))

  // A cursor belongs to its reader: these calls begin without one.
  const query = pick([...fromQuery].filter((name) => name !== 'since'))
  const body = pick(fromBody)
  const input = { ...pick(parameters.filter(Boolean)), ...query, ...body }
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(examples[name]!))
  return {
    section,
    tokens: meta.policy.requires.section,
    isOfApp: meta.policy.requires.appItself === 'required',
    method,
    path: fromQuery.size > 0 ? `${address}?${new URLSearchParams(query)}` : address,
    ...(fromBody.size > 0 && { body }),
    ...(Object.keys(input).length > 0 && { input }),
  }
}
