import { auth, createMCPClient } from '@ai-sdk/mcp'
import { authProvider, printMember, readCallback } from './assistant.mjs'

const url = process.env.MCP
await auth(authProvider, { serverUrl: url })
const callback = await readCallback()
await auth(authProvider, {
  serverUrl: url,
  authorizationCode: callback.get('code'),
  callbackState: callback.get('state') ?? undefined,
})
const client = await createMCPClient({ transport: { type: 'http', url, authProvider } })
const tools = await client.tools()
const result = await tools.meProfile.execute({}, { messages: [], toolCallId: '1' })
printMember(
  result,
  Object.keys(tools).map((name) => ({ name })),
)
await client.close()
