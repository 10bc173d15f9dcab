import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import { authProvider, printMember, readCallback } from './assistant.mjs'

const newTransport = () => new StreamableHTTPClientTransport(new URL(process.env.MCP), { authProvider })
const first = newTransport()
const newClient = () => new Client({ name: 'sample', version: '1' }, { versionNegotiation: { mode: 'auto' } })
await newClient()
  .connect(first)
  .catch((error) => {
    if (!(error instanceof UnauthorizedError)) throw error
  })
await first.finishAuth(await readCallback())
const client = newClient()
await client.connect(newTransport())
printMember(await client.callTool({ name: 'meProfile', arguments: {} }), (await client.listTools()).tools)
await client.close()
