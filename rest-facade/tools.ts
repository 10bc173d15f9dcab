import { z } from 'zod'
import type { Access, Principal } from '../routers/kernel/access.ts'
import { stillAllows } from '../routers/kernel/authorize.ts'
import { readDefinition } from '../routers/kernel/trpc-internals.ts'
import { toOperationId } from './document.ts'
import { tidy } from './openapi-examples.ts'
import type { Json, ObjectSchema } from './openapi-operation.ts'
import type { Route } from './routes.ts'
import { routes } from './routes.ts'

/** An endpoint as an assistant sees it (Model Context Protocol). */
export interface Tool {
  name: string
  title: string
  /** Markdown. */
  description: string
  /** The input of the procedure: fields of path, query, body and headers in one object. */
  inputSchema: ObjectSchema & { type: 'object' }
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean }
}

export interface ToolEntry {
  tool: Tool
  route: Route
  /** Whether a member's token may call it. */
  isFor: (principal: Principal, access: Access) => boolean
}

/** Whether the token of a member can call the endpoint, for the member's own data. */
export const isTool = ({ section, meta: { policy } }: Route) =>
  section !== 'notify' && policy.requires.appItself !== 'required' && !policy.requires.firstParty

/** Fields of calls that wait or stream, which a tool does not. */
export const OF_WAITING = ['wait', 'lastEventId']

let entries: ReadonlyMap<string, ToolEntry> | undefined

/** The tools by name; built at the first call. */
export const tools = (): ReadonlyMap<string, ToolEntry> =>
  (entries ??= new Map(routes.filter(isTool).map((route) => [toOperationId(route.name), toEntry(route)])))

function toEntry(route: Route): ToolEntry {
  const { name, method, status, procedure, meta } = route
  const { requires } = meta.policy
  const isAllowed = stillAllows(meta)
  return {
    route,
    isFor: (principal, access) =>
      principal.member !== null && principal.sections?.has(requires.section) !== false && isAllowed(principal, access),
    tool: {
      name: toOperationId(name),
      title: meta.summary,
      description: `${meta.description}\n\nReturns: ${meta.returns}`,
      inputSchema: toInputSchema(readDefinition(procedure).inputs[0], Object.keys(meta.headers ?? {})),
      annotations: {
        readOnlyHint: method === 'GET',
        // A 201 only adds.
        destructiveHint: method !== 'GET' && status !== 201,
        idempotentHint: method !== 'POST',
      },
    },
  }
}

/** Headers have no examples, as in the documents: the ETag or key of another call is refused. */
function toInputSchema(input: z.ZodType = z.object({}), headers: readonly string[]): Tool['inputSchema'] {
  const { properties, required = [] } = z.toJSONSchema(input, {
    io: 'input',
    unrepresentable: 'any',
    override,
  }) as Json & {
    properties: Record<string, Json>
    required?: string[]
  }
  for (const field of OF_WAITING) delete properties[field]
  for (const field of headers) delete properties[field]?.examples
  return tidy({ type: 'object' as const, properties, required })
}

/** What a schema says in place of zod. */
function override({ jsonSchema }: { jsonSchema: Json }) {
  if (jsonSchema.override) Object.assign(jsonSchema, jsonSchema.override)
  delete jsonSchema.override
}
