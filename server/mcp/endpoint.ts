import type { Caller } from '../../rest-facade/facade.ts'
import { restFacade } from '../../rest-facade/facade.ts'
import type { ToolEntry } from '../../rest-facade/tools.ts'
import { OF_WAITING, tools } from '../../rest-facade/tools.ts'
import { toFailure } from '../../routers/kernel/database-errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { Placeholders } from '../../routers/kernel/raw-json/placeholders.ts'
import type { HttpParts } from '../http/app.ts'
import { openCall } from '../http/open-call.ts'
import { MCP, MCP_PATH } from '../http/resource-metadata.ts'
import { forbidStoring } from '../http/respond.ts'
import type { Step } from '../http/state.ts'
import type { Handlers } from './protocol.ts'
import { readMessage } from './read-message.ts'
import { toErrorResult, toResult } from './results.ts'

/**
 * The endpoints as tools of assistants (Model Context Protocol), at `/v1/mcp` of sync. A message counts for the quota before its body
 * is read. A tool's refusal is a result, which the model reads, except for 401: by it clients begin to sign in.
 */
export function mcp(parts: HttpParts): Step {
  const { core, baseUrls, authenticate } = parts
  const facade = restFacade(core)
  // 0.2 s and 15 MB that a start does not need.
  const load = async () => (await import('./protocol.ts')).openProtocol(core.brand)
  let loading: ReturnType<typeof load> | undefined

  async function callTool({ route }: ToolEntry, given: object, caller: Caller, values: Placeholders) {
    if (caller.principal.member === null) throw errors.tokenInvalid()
    const input = Object.fromEntries(Object.entries(given).filter(([name]) => !OF_WAITING.includes(name)))
    const refuse = async () => {
      throw errors.resultTooLarge()
    }
    // Memory is reserved for megabytes. What writes has written when its result is known.
    const reserve = route.method === 'GET' ? refuse : caller.reserve
    const counted = { ...caller, consumeQuota: async () => {}, reserve }
    return toResult(
      await facade.callWith(route, async () => input, counted, values),
      `${baseUrls[route.section]}${route.path}`,
    )
  }

  return async (ctx, next) => {
    const { state } = ctx
    if (state.path !== MCP_PATH || state.section !== 'sync') return next()
    state.operation = 'mcp'
    state.pattern = MCP
    if (ctx.method !== 'POST') throw errors.methodWrong('POST')
    forbidStoring(state)
    const principal = await authenticate(ctx.req)
    state.principal = principal
    const access = await core.findAccess(principal)
    if (!access) throw errors.tokenInvalid()
    const { body, caller, reserve, rendered } = openCall(ctx, principal, parts)
    await caller.consumeQuota(access)
    const values = new Placeholders()
    const reserveParsed = (bytes: number) => reserve(bytes, 'parsed')
    const handlers: Handlers = {
      list: () =>
        [...tools().values()].filter(({ isFor }) => isFor(principal, access)).map(({ tool }) => tool) as ReturnType<
          Handlers['list']
        >,
      async call({ name, arguments: given = {} }) {
        const entry = tools().get(name)
        if (!entry) return undefined
        state.route = entry.route
        return callTool(entry, given, caller, values).catch((thrown) => {
          state.refusal = toFailure(thrown)
          return toErrorResult(state.refusal, state.requestId)
        })
      },
    }
    try {
      const message = await readMessage(body, reserveParsed, { quotaBytes: core.storageQuotaBytes, values })
      loading ??= load()
      const answer = await loading
      const reply = await answer(message, ctx.req.headers, handlers)
      if (state.refusal?.status === 401) throw state.refusal
      state.response = { body: undefined, ...reply }
    } finally {
      rendered(state.response?.body?.length ?? 0)
    }
  }
}
