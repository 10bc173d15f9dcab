import type { AnyProcedure } from '@trpc/server'
import { z } from 'zod'
import { procedures } from '../routers/index.ts'
import type { Meta } from '../routers/kernel/meta.ts'
import { findSection } from '../routers/kernel/meta.ts'
import type { Section } from '../routers/kernel/scopes.ts'
import { readDefinition } from '../routers/kernel/trpc-internals.ts'

/** An endpoint: its procedure, and where the procedure's input comes from. */
export interface Route {
  /** `storage.put` */
  name: string
  procedure: AnyProcedure
  meta: Meta
  section: Section
  method: string
  path: string
  /** The status of success. */
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

/** The routing table, from the rows that trpc-to-openapi reads as well. */
export const routes: readonly Route[] = Object.entries(procedures).flatMap(([name, procedure]) => {
  const { meta } = readDefinition(procedure)
  return meta.openapi ? [toRoute(name, procedure, meta)] : []
})

/** As trpc-to-openapi does: what is neither in the path nor a header is in the query of GET and DELETE, else in the body. */
function toRoute(name: string, procedure: AnyProcedure, meta: Meta): Route {
  const { method, path } = meta.openapi!
  const segments = split(path)
  const parameters = segments.map((segment) => (segment.startsWith('{') ? segment.slice(1, -1) : ''))
  const shape = readShape(readDefinition(procedure).inputs[0])
  const elsewhere = new Set([...parameters, ...Object.keys(meta.headers ?? {})])
  const others = Object.keys(shape).filter((key) => !elsewhere.has(key))
  const hasBody = method === 'PUT' || method === 'POST'
  const fromQuery = hasBody ? (meta.query ?? []) : others
  const fromBody = new Set(hasBody ? others.filter((key) => !fromQuery.includes(key)) : [])
  const types = new Map(fromQuery.map((key) => [key, readType(shape[key]!)]))
  const keysOfType = (type: string) => new Set(fromQuery.filter((key) => types.get(key) === type))
  return {
    name,
    procedure,
    meta,
    section: findSection(meta),
    method,
    path,
    status: meta.status ?? 200,
    literals: segments.map((segment, i) => (parameters[i] ? '' : segment)),
    parameters,
    fromQuery: new Set(fromQuery),
    fromBody,
    integers: keysOfType('integer'),
    booleans: keysOfType('boolean'),
    stream: meta.stream ? procedures[meta.stream] : undefined,
    head: fromBody.size > 0 ? pickHead(shape, fromBody) : undefined,
  }
}

/** Without a query, some inputs default to `{}`. */
function readShape(input: z.ZodType | undefined): z.ZodRawShape {
  if (input instanceof z.ZodDefault || input instanceof z.ZodPrefault) return readShape(input.unwrap() as z.ZodType)
  return input instanceof z.ZodObject ? input.shape : {}
}

function readType(schema: z.core.$ZodType) {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }).type
}

function pickHead(shape: z.ZodRawShape, fromBody: ReadonlySet<string>): z.ZodObject {
  return z.object(Object.fromEntries(Object.entries(shape).filter(([key]) => !fromBody.has(key))))
}

/** The percent-decoded segments of a path below `/v1`; one with an invalid encoding stays as it is, and fits no name. */
export function parseSegments(path: string): string[] | undefined {
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
