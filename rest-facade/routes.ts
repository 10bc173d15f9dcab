import type { AnyProcedure } from '@trpc/server'
import { unwrapZodType } from 'trpc-to-openapi'
import { z } from 'zod'
import { appRouter } from '../routers/index.ts'
import type { Meta, Section } from '../routers/trpc.ts'

/** An endpoint: the row of its procedure, and where the procedure's input comes from. */
export interface Route {
  /** `storage.put` */
  name: string
  procedure: AnyProcedure
  meta: Meta
  section: Section
  method: string
  path: string
  /** Of the path, the literal segments; '' where a parameter stands. */
  literals: readonly string[]
  /** Of the path, the parameters; '' where a literal stands. */
  parameters: readonly string[]
  fromQuery: ReadonlySet<string>
  fromBody: ReadonlySet<string>
  /** Inputs that are numbers: of a text, plain decimal digits are one. */
  numbers: ReadonlySet<string>
  /** Whatever is not in the body: judged before the body is read. */
  head: z.ZodObject | undefined
}

const split = (path: string) => path.slice(1).split('/')

const procedures = appRouter._def.procedures as unknown as Record<string, AnyProcedure>

/** The endpoint table, read off the procedures; nothing is listed twice. */
export const routes: readonly Route[] = Object.entries(procedures).flatMap(([name, procedure]) => {
  const meta = procedure._def.meta as Meta
  if (!meta.openapi) return []
  const { method, path } = meta.openapi
  const segments = split(path)
  const parameters = segments.map((segment) => (segment.startsWith('{') ? segment.slice(1, -1) : ''))

  const shape = shapeOf(procedure)
  const elsewhere = [...parameters, ...Object.keys(meta.headers ?? {})]
  const rest = Object.keys(shape).filter((key) => !elsewhere.includes(key))
  const hasBody = method === 'PUT' || method === 'POST'
  const fromBody = new Set(rest.filter((key) => hasBody && !meta.query?.includes(key)))
  const head = Object.fromEntries(Object.entries(shape).filter(([key]) => !fromBody.has(key)))
  const route: Route = {
    name,
    procedure,
    meta,
    section: meta.audience.section,
    method,
    path,
    parameters,
    literals: segments.map((segment, i) => (parameters[i] ? '' : segment)),
    fromQuery: new Set(rest.filter((key) => !fromBody.has(key))),
    fromBody,
    numbers: new Set(Object.keys(shape).filter((key) => unwrapZodType(shape[key]!, false)._zod.def.type === 'number')),
    head: hasBody ? z.object(head) : undefined,
  }
  return [route]
})

/** The fields of a procedure's declared input. */
function shapeOf(procedure: AnyProcedure): Record<string, z.ZodType> {
  const { inputs } = procedure._def as unknown as { inputs: z.ZodType[] }
  return inputs[0] ? (unwrapZodType(inputs[0], true) as z.ZodObject).shape : {}
}

/** A path below `/v1` in its percent-decoded segments; what cannot be decoded stays as it is, and fits no name. */
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

/** The endpoints at a path, one a method. A parameter fits whatever it is, also empty: its schema answers for it. */
export function routesAt(segments: readonly string[]): Route[] {
  return routes.filter(
    ({ literals, parameters }) =>
      literals.length === segments.length && literals.every((literal, i) => parameters[i] || literal === segments[i]),
  )
}
