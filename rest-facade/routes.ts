import type { AnyProcedure } from '@trpc/server'
import { z } from 'zod'
import { procedures } from '../routers/index.ts'
import type { Meta } from '../routers/kernel/meta.ts'
import type { Section } from '../routers/kernel/scopes.ts'
import { sectionNames } from '../routers/kernel/scopes.ts'
import { definitionOf } from '../routers/kernel/trpc-internals.ts'
import { procedureOf } from './document.ts'
import { documents } from './openapi.ts'
import type { Operation } from './openapi-operation.ts'

/** An endpoint: its procedure, and where the procedure's input comes from. */
export interface Route {
  /** `storage.put` */
  name: string
  procedure: AnyProcedure
  meta: Meta
  section: Section
  method: string
  path: string
  /** Of success. */
  status: number
  /** By segment of the path: the literal, or '' for a parameter. */
  literals: readonly string[]
  /** By segment of the path: the parameter, or '' for a literal. */
  parameters: readonly string[]
  fromQuery: ReadonlySet<string>
  fromBody: ReadonlySet<string>
  /** Query parameters that are integers. */
  integers: ReadonlySet<string>
  /** Query parameters that are `true` or `false`. */
  booleans: ReadonlySet<string>
  /** What answers where the client accepts server-sent events. */
  stream: AnyProcedure | undefined
  /** Schema of the input beside the body, where there is a body: checked before the body is read. */
  head: z.ZodObject | undefined
}

const split = (path: string) => path.slice(1).split('/')

/** The routing table, read from the OpenAPI documents. */
export const routes: readonly Route[] = sectionNames.flatMap((section) =>
  Object.entries(documents[section].paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => routeOf(section, method.toUpperCase(), path, operation)),
  ),
)

function routeOf(section: Section, method: string, path: string, operation: Operation): Route {
  const { name, procedure, meta } = procedureOf(operation)
  const segments = split(path)
  const parameters = segments.map((segment) => (segment.startsWith('{') ? segment.slice(1, -1) : ''))
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
  const ofType = (type: string) => new Set(query.filter(({ schema }) => schema?.type === type).map(({ name }) => name))
  const fromBody = new Set(Object.keys(operation.requestBody?.content['application/json'].schema.properties ?? {}))
  return {
    name,
    procedure,
    meta,
    section,
    method,
    path,
    status: Number(Object.keys(operation.responses).find((status) => status.startsWith('2'))),
    literals: segments.map((segment, i) => (parameters[i] ? '' : segment)),
    parameters,
    fromQuery: new Set(query.map((parameter) => parameter.name)),
    fromBody,
    integers: ofType('integer'),
    booleans: ofType('boolean'),
    stream: meta.stream ? procedures[meta.stream] : undefined,
    head: fromBody.size > 0 ? headOf(procedure, fromBody) : undefined,
  }
}

function headOf(procedure: AnyProcedure, fromBody: ReadonlySet<string>): z.ZodObject {
  const [input] = definitionOf(procedure).inputs
  return z.object(Object.fromEntries(Object.entries(input!.shape).filter(([key]) => !fromBody.has(key))))
}

/** The percent-decoded segments of a path below `/v1`; one with an invalid encoding stays as it is, and fits no name. */
export function segmentsOf(path: string): string[] | undefined {
  if (path === '/v1') return ['']
  if (!path.startsWith('/v1/')) return undefined
  return split(path.slice(3)).map((segment) => {
    if (!segment.includes('%')) return segment
    try {
      return decodeURIComponent(segment)
    } catch {
      return segment
    }
  })
}

/** The endpoints at a path, one a method. A parameter matches any segment, even an empty one: its schema refuses it. */
export function routesAt(segments: readonly string[]): Route[] {
  return routes.filter(
    ({ literals, parameters }) =>
      literals.length === segments.length && literals.every((literal, i) => parameters[i] || literal === segments[i]),
  )
}
