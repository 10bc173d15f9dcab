import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { print, printMember, readCallback } from './assistant.mjs'

const { MCP, CLIENT_ID, REDIRECT_URI, HOME, PATH } = process.env
const { port } = new URL(REDIRECT_URI)
const own = ['--transport', 'http-only', '--allow-http', '--host', 'localhost']
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [
    'node_modules/mcp-remote/dist/proxy.js',
    MCP,
    port,
    ...own,
    '--static-oauth-client-info',
    JSON.stringify({ client_id: CLIENT_ID }),
  ],
  // No browser: the address is printed.
  env: { HOME, PATH, MCP_REMOTE_CONFIG_DIR: `${process.cwd()}/mcp-remote-${port}` },
  stderr: 'pipe',
})
const said = []
createInterface({ input: transport.stderr }).on('line', async (line) => {
  said.push(line)
  const [address] = /http:\S+\/authorize\?\S+/.exec(line) ?? []
  if (!address || said.asked) return
  said.asked = true
  print(address)
  const callback = await readCallback()
  // It listens after it has printed the address: a member is slower.
  while (!(await fetch(`${REDIRECT_URI}?${callback}`).catch(() => undefined))) await pause(50)
})
const client = new Client({ name: 'sample', version: '1' })
await client.connect(transport, { timeout: 50_000 }).catch((error) => {
  throw new Error(`${error.message}: ${said.join('\n')}`)
})
printMember(await client.callTool({ name: 'meProfile', arguments: {} }), (await client.listTools()).tools)
await client.close()
