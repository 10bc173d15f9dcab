import type { CallToolResult, JSONRPCRequest, MessageClassification } from '@modelcontextprotocol/server'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PerRequestHTTPServerTransport,
  PROTOCOL_VERSION_META_KEY,
  Server,
} from '@modelcontextprotocol/server'
import { expect, it } from 'vitest'
import { release } from '../../prisma/release.ts'
import { openProtocol } from '../../server/mcp/protocol.ts'

const REVISION = '2026-07-28'
const envelope = {
  [PROTOCOL_VERSION_META_KEY]: REVISION,
  [CLIENT_INFO_META_KEY]: { name: 'suite', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: {},
}
const headers = { 'mcp-protocol-version': REVISION, 'mcp-method': 'tools/call', 'mcp-name': 'meProfile' }
const text = { type: 'text', text: '{"id":"anna"}' } as const
const results: CallToolResult[] = [
  { content: [text] },
  { content: [text, text], isError: true, structuredContent: { error: { code: 'not_found' } } },
  { content: [{ type: 'resource', resource: { uri: 'https://sync.test/v1', mimeType: 'a/b', blob: 'YQ==' } }] },
]

/** What a server of the package answers, whose handler returns the result. */
async function serve(message: JSONRPCRequest, classification: MessageClassification, result: CallToolResult) {
  const info = { name: 'member-apps-api', title: 'T', version: release }
  const server = new Server(info, { capabilities: { tools: {} }, supportedProtocolVersions: [REVISION] })
  server.setRequestHandler('tools/call', async () => result)
  const transport = new PerRequestHTTPServerTransport({ classification, responseMode: 'json' })
  await server.connect(transport)
  const response = await transport.handleMessage(message)
  return { status: response.status, body: await response.json() }
}

it.each([
  ['stateless', { _meta: envelope }, headers, { era: 'modern', revision: REVISION }],
  ['former', {}, {}, { era: 'legacy' }],
] as const)('a tool call of a %s client gets the answer of the package’s own server', async (_, meta, sent, era) => {
  const answer = openProtocol('T')
  for (const [id, result] of results.entries()) {
    const params = { ...meta, name: 'meProfile', arguments: { limit: 1 } }
    const message = { jsonrpc: '2.0' as const, id, method: 'tools/call', params }
    const { status, body } = await answer(message, sent, { list: () => [], call: async () => result })
    expect({ status, body: JSON.parse(body!) }).toEqual(await serve(message, era, result))
  }
})
