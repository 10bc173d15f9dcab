import type { IncomingHttpHeaders } from 'node:http'
import type {
  CallToolRequest,
  CallToolResult,
  Implementation,
  InboundLegacyRoute,
  InboundModernRoute,
  JSONRPCRequest,
  ListToolsResult,
  MessageClassification,
} from '@modelcontextprotocol/server'
import {
  classifyInboundRequest,
  INVALID_PARAMS,
  INVALID_REQUEST,
  PerRequestHTTPServerTransport,
  SERVER_INFO_META_KEY,
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
  /** Undefined for an unknown tool. */
  call: (params: CallToolRequest['params']) => Promise<CallToolResult | undefined>
}

/** Without a body for a notification. */
interface Reply {
  status: number
  body?: string
}

/** Answers `initialize`, `server/discover`, `ping` and `tools/list`, by a server of the package for the one message: 180 us. */
async function serve(
  info: Implementation,
  request: JSONRPCRequest,
  classification: MessageClassification,
  { list }: Handlers,
): Promise<Reply> {
  const server = new Server(info, { capabilities: { tools: {} }, supportedProtocolVersions: VERSIONS })
  server.setRequestHandler('tools/list', async () => ({ tools: list() }))
  const transport = new PerRequestHTTPServerTransport({ classification, responseMode: 'json' })
  await server.connect(transport)
  const response = await transport.handleMessage(request)
  // To clients of the versions before, 404 is the end of a session.
  return { status: classification.era === 'legacy' ? 200 : response.status, body: await response.text() }
}

/**
 * Answers `tools/call` as the package would: the classification has checked the envelope. A server takes 60 us of 300 and 30 KB
 * of 84.
 */
async function serveCall(
  info: Implementation,
  { id, params: { name, arguments: given = {} } = {} }: JSONRPCRequest,
  { era }: MessageClassification,
  { call }: Handlers,
): Promise<Reply> {
  const refuse = (message: string) => toReply(200, { id, error: { code: INVALID_PARAMS, message } })
  if (typeof name !== 'string') return refuse('name is a string.')
  if (!isObject(given)) return refuse('arguments is an object.')
  const result = await call({ name, arguments: given })
  if (!result) return refuse(`Unknown tool: ${name.slice(0, 64)}`)
  const complete = { ...result, resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: info } }
  return toReply(200, { id, result: era === 'modern' ? complete : result })
}

const toReply = (status: number, message: object): Reply => ({
  status,
  body: JSON.stringify({ jsonrpc: '2.0', ...message }),
})

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Answers messages of any version, each by itself: no sessions, streams or batches. `title` is shown to people. */
export function openProtocol(title: string) {
  const info = { name: 'member-apps-api', title, version: release }
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
      return toReply(400, { ...known, error: { code, message, data } })
    }
    const isRequest =
      route.kind === 'modern'
        ? route.messageKind === 'request'
        : route.kind === 'legacy' && (route.reason === 'initialize' || route.reason === 'no-claim')
    if (!isRequest) return { status: 202 }
    const request = json as JSONRPCRequest
    const classification: MessageClassification = route.kind === 'modern' ? route.classification : { era: 'legacy' }
    return (request.method === 'tools/call' ? serveCall : serve)(info, request, classification, handlers)
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
