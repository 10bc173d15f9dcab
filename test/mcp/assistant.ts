import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { localUrlsAt } from '../support/local-urls.ts'
import type { Call } from '../support/request.ts'
import type { World } from '../support/world.ts'

/** The trial's paths, at which the client's own fetch finds the service. */
export const localUrls = localUrlsAt('http://localhost:3000')

/** The era of a client: the one before goes first, then the stateless one. */
export type Mode = 'legacy' | 'auto'

/** The official client, connected with a token. */
export async function connect({ publicPort }: World, token: string, mode: Mode = 'auto') {
  const client = new Client({ name: 'suite', version: '1' }, { versionNegotiation: { mode } })
  const headers = { authorization: `Bearer ${token}` }
  const url = new URL(`http://127.0.0.1:${publicPort}/sync/v1/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  return client
}

/** A message as it is, with the usual token unless `headers` has another. */
export async function post(world: World, body: unknown, { headers, ...call }: Call = {}) {
  const authorization = `Bearer ${await world.token()}`
  return world.send('POST', '/v1/mcp', {
    host: world.hosts.sync,
    headers: { authorization, ...headers },
    body,
    ...call,
  })
}

export const toolCall = (name: string, given: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
})
