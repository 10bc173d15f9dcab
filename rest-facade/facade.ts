import type { AnyProcedure } from '@trpc/server'
import type { Call, Core } from '../routers/kernel/context.ts'
import { toFailure } from '../routers/kernel/database-errors.ts'
import { Deadline } from '../routers/kernel/deadline.ts'
import { Placeholders } from '../routers/kernel/raw-json/placeholders.ts'
import { readDefinition } from '../routers/kernel/trpc-internals.ts'
import type { Body } from './body.ts'
import type { RestRequest } from './input.ts'
import { readInput } from './input.ts'
import { readLastEventId } from './last-event-id.ts'
import type { Route } from './routes.ts'

/** A status and, but for 204, JSON or a file: a text, or bytes where it is large. */
export interface RestResponse {
  status: number
  body: string | Buffer | undefined
  /** In place of JSON's. */
  type?: string
  /** Output fields that leave as headers: name, value, name, value. */
  headers?: readonly string[]
}

/** What the server provides for a call. */
export type Caller = Pick<Call, 'principal' | 'consumeQuota' | 'setHeader' | 'reserve' | 'reserveShared' | 'hold'>

/** One of a stream's events. */
export interface RestEvent {
  id: string
  /** JSON on one line. */
  data: string | Buffer
}

/** The events of a subscription, which may say how far it is between them. */
export interface Positioned<Event> extends AsyncIterable<Event> {
  /** The id of a position that has moved since the last event, or the last call; undefined otherwise. */
  position?: () => string | undefined
}

/**
 * Calls the procedures of routes. tRPC's input step asks for the input behind the gate, so the body is read only after every
 * check of the policy. Both throw an ApiError.
 */
export function restFacade(core: Core) {
  const invoke = async (
    procedure: AnyProcedure,
    { name }: Route,
    readRawInput: (deadline: Deadline) => Promise<unknown>,
    caller: Caller,
    placeholders: Placeholders,
  ): Promise<unknown> => {
    const deadline = new Deadline(core.timeLimits.requestMs)
    const call = toCall(caller, deadline, placeholders)
    let input: Promise<unknown> | undefined
    const getRawInput = () => (input ??= readRawInput(deadline))
    const { type } = readDefinition(procedure)
    const options = { ctx: { core, call }, path: name, type, getRawInput, signal: undefined, batchIndex: 0 }
    return procedure(options).catch((thrown: unknown) => {
      throw toFailure(thrown)
    })
  }

  const readFrom = (route: Route, request: RestRequest, placeholders: Placeholders) => (deadline: Deadline) => {
    // A client may take its time to send the body.
    const body: Body = {
      headers: request.body.headers,
      read: (...limits) => deadline.without(() => request.body.read(...limits)),
    }
    return readInput(route, { ...request, body }, { quotaBytes: core.storageQuotaBytes, placeholders })
  }

  return {
    call(route: Route, request: RestRequest, caller: Caller): Promise<RestResponse> {
      const placeholders = new Placeholders()
      return this.callWith(route, readFrom(route, request, placeholders), caller, placeholders)
    },

    /** The same with an input that is read elsewhere; `placeholders` has its raw values. */
    async callWith(
      route: Route,
      readRawInput: (deadline: Deadline) => Promise<unknown>,
      caller: Caller,
      placeholders: Placeholders,
    ): Promise<RestResponse> {
      const { procedure, status, meta } = route
      const data = await invoke(procedure, route, readRawInput, caller, placeholders)
      if (status === 204) return { status, body: undefined }
      const { responseHeaders, file } = meta
      if (file) return { status, body: Buffer.from((data as Fields)[file.field]!, 'base64'), type: file.type }
      if (!responseHeaders) return { status, body: await placeholders.render(JSON.stringify(data)) }
      const { fields, headers } = split(data as Fields, responseHeaders)
      return { status, body: await placeholders.render(JSON.stringify(fields)), headers }
    },

    /** The events of the route's stream; rejects before the first one where the request is refused. */
    async events(route: Route, request: RestRequest, caller: Caller): Promise<Positioned<RestEvent>> {
      const placeholders = new Placeholders(true)
      const readRest = readFrom(route, request, placeholders)
      const lastEventId = readLastEventId(request.body.headers, request.search)
      const readRawInput = async (deadline: Deadline) => ({ ...(await readRest(deadline)), lastEventId })
      const events = await invoke(route.stream!, route, readRawInput, caller, placeholders)
      return rendered(events as Positioned<{ id: string; data: unknown }>, placeholders)
    },
  }
}

/** In a scope of its own: a stream keeps its call, and would keep its request. */
const toCall = (
  { principal, consumeQuota, setHeader, reserve, reserveShared, hold }: Caller,
  deadline: Deadline,
  placeholders: Placeholders,
): Call => ({
  principal,
  consumeQuota,
  deadline,
  setHeader,
  reserve: (bytes) => deadline.without(() => reserve(bytes)),
  reserveShared: (bytes) => deadline.without(() => reserveShared(bytes)),
  hold,
  json: placeholders.insert,
  line: placeholders.insertLine,
  text: placeholders.toText,
  minBytes: placeholders.readMinBytes,
  typed: false,
})

/** No generator: one that rests keeps its last event, which may be megabytes. */
export function rendered(
  events: Positioned<{ id: string; data: unknown }>,
  placeholders: Placeholders,
): Positioned<RestEvent> {
  const iterator = events[Symbol.asyncIterator]()
  return {
    ...(events.position && { position: events.position }),
    [Symbol.asyncIterator]: () => ({
      async next() {
        const { done, value } = await iterator.next()
        if (done) return { done, value: undefined }
        return { done: false, value: { id: value.id, data: await placeholders.render(JSON.stringify(value.data)) } }
      },
      return: async () => {
        await iterator.return?.()
        return { done: true, value: undefined }
      },
    }),
  }
}

type Fields = Record<string, string | undefined>

/** Takes the output fields that leave as headers out of the data: JSON.stringify drops undefined. */
function split(data: Fields, names: Readonly<Record<string, string>>) {
  const fields = { ...data }
  const headers: string[] = []
  for (const field in names) {
    headers.push(names[field]!, data[field]!)
    fields[field] = undefined
  }
  return { fields, headers }
}
