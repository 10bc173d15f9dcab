import type { IncomingHttpHeaders } from 'node:http'
import type {
  CallToolRequest,
  CallToolResult,
  InboundLegacyRoute,
  InboundModernRoute,
  JSONRPCMessage,
  JSONRPCRequest,
  ListToolsResult,
  MessageClassification,
  RequestId,
} from '@modelcontextprotocol/server'
import {
  classifyInboundRequest,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PerRequestHTTPServerTransport,
  ProtocolError,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { release } from '../../prisma/release.ts'

/** Its requests say all by themselves; clients of the versions before it begin with `initialize`. */
const STATELESS = '2026-07-28'
const VERSIONS = [STATELESS, ...SUPPORTED_PROTOCOL_VERSIONS]
const HEADER_MISMATCH = -32020

/** What a request may do. */
export interface Handlers {
  list: () => ListToolsResult['tools']
  call: (params: CallToolRequest['params']) => Promise<CallToolResult>
}

/** Without a body for a notification. */
interface Reply {
  status: number
  body?: JSONRPCMessage
}

/**
 * Serves the requests of all clients of an era, under ids of its own: to connect a server for each request costs 80 us, and the
 * package's own way from message to Response and back 40.
 */
class Peer extends PerRequestHTTPServerTransport {
  readonly #waiting = new Map<RequestId, Handlers & { answer: (message: JSONRPCMessage) => void }>()
  readonly #connected: Promise<void>
  readonly #era: { classification: MessageClassification }
  #last = 0

  constructor(title: string, classification: MessageClassification) {
    super({ classification })
    this.#era = { classification }
    const info = { name: 'member-apps-api', title, version: release }
    const server = new Server(info, { capabilities: { tools: {} }, supportedProtocolVersions: VERSIONS })
    // Handlers by method have requests and results parsed three times: 12 KB a call.
    server.fallbackRequestHandler = ({ method, params }, { mcpReq: { id } }) =>
      serveMethod(this.#waiting.get(id)!, method, params)
    this.#connected = server.connect(this)
  }

  override async send(message: JSONRPCMessage) {
    if ('id' in message && message.id !== undefined) this.#waiting.get(message.id)?.answer(message)
  }

  async serve(request: JSONRPCRequest, handlers: Handlers): Promise<JSONRPCMessage> {
    await this.#connected
    const id = ++this.#last
    const answered = new Promise<JSONRPCMessage>((answer) => this.#waiting.set(id, { ...handlers, answer }))
    this.onmessage!({ ...request, id }, this.#era)
    const message = await answered
    this.#waiting.delete(id)
    return { ...message, id: request.id } as JSONRPCMessage
  }
}

async function serveMethod({ list, call }: Handlers, method: string, params: JSONRPCRequest['params']) {
  if (method === 'tools/list') return { tools: list() }
  if (method !== 'tools/call') throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found')
  const { name, arguments: given = {} } = params ?? {}
  if (typeof name !== 'string') throw new ProtocolError(INVALID_PARAMS, 'name is a string.')
  if (!isObject(given)) throw new ProtocolError(INVALID_PARAMS, 'arguments is an object.')
  return call({ name, arguments: given })
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Answers messages of any version, each by itself: no sessions, streams or batches. `title` is shown to people. */
export function openProtocol(title: string) {
  const stateless = new Peer(title, { era: 'modern', revision: STATELESS })
  const former = new Peer(title, { era: 'legacy' })
  return async (json: unknown, headers: IncomingHttpHeaders, handlers: Handlers): Promise<Reply> => {
    const { 'mcp-protocol-version': version, 'mcp-method': method } = headers
    const route = classifyInboundRequest({
      httpMethod: 'POST',
      ...(version !== undefined && { protocolVersionHeader: String(version) }),
      ...(method !== undefined && { mcpMethodHeader: String(method) }),
      body: json,
    })
    const fault = route.kind === 'reject' ? route : findFault(route, headers)
    if (fault) {
      const { code, message, data } = fault
      const { id } = (json ?? {}) as Partial<JSONRPCRequest>
      const known = typeof id === 'string' || typeof id === 'number' ? { id } : {}
      return { status: 400, body: { jsonrpc: '2.0', ...known, error: { code, message, data } } }
    }
    if (route.kind === 'legacy' && (route.reason === 'initialize' || route.reason === 'no-claim')) {
      return { status: 200, body: await former.serve(json as JSONRPCRequest, handlers) }
    }
    if (route.kind !== 'modern' || route.messageKind === 'notification') return { status: 202 }
    const body = await stateless.serve(route.message as JSONRPCRequest, handlers)
    return { status: 'error' in body && body.error.code === METHOD_NOT_FOUND ? 404 : 200, body }
  }
}

/** What the package tells only with a way of serving that is not taken here. */
function findFault(
  route: InboundModernRoute | InboundLegacyRoute,
  headers: IncomingHttpHeaders,
): { code: number; message: string; data?: unknown } | undefined {
  if (route.kind === 'legacy') {
    const { reason, requestedVersion: requested = VERSIONS[0]! } = route
    if (reason === 'batch') return { code: INVALID_REQUEST, message: 'Send one message, not a list.' }
    // The answer to `initialize` names a version that both know.
    if (reason === 'initialize' || VERSIONS.includes(requested)) return undefined
    return new UnsupportedProtocolVersionError({ supported: VERSIONS, requested })
  }
  const { message, messageKind, classification } = route
  const { revision: requested = '' } = classification
  if (requested !== STATELESS) return new UnsupportedProtocolVersionError({ supported: VERSIONS, requested })
  if (messageKind === 'notification') return undefined
  // Headers repeat the body, for proxies.
  const names = ['mcp-protocol-version', 'mcp-method', ...(message.method === 'tools/call' ? ['mcp-name'] : [])]
  const missing = names.find(
    (name) => headers[name] === undefined || (name === 'mcp-name' && headers[name] !== message.params?.name),
  )
  return missing === undefined
    ? undefined
    : { code: HEADER_MISMATCH, message: `The header ${missing} is not as in the body.` }
}
