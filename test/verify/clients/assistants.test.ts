import { execFile } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { dataDirectory, freePort } from '../../process/service.ts'
import { npm } from '../install/npm.ts'
import { clientsWorld } from './clients-world.ts'

/** The versions in docs/mcp.md. */
const PACKAGES = [
  '@modelcontextprotocol/client@2.4.0',
  '@modelcontextprotocol/sdk@1.32.2',
  '@modelcontextprotocol/inspector@2.12.0',
  '@ai-sdk/mcp@2.0.99',
  'mcp-remote@0.15.1',
]
/** The inspector asks for 22.19. */
const NODE = '22.23.3'

const run = promisify(execFile)
let directory: string
let node: string
const here = clientsWorld(async (atEnd) => {
  directory = await dataDirectory(atEnd)
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  await npm(directory, 'install', '--ignore-scripts', '--engine-strict=false', ...PACKAGES)
  await cp(join(import.meta.dirname, 'programs'), directory, { recursive: true })
  node = (await run('.ci/executable', ['node', NODE])).stdout.trim()
})
const sandboxMember = expect.stringMatching(/^t_/)
const toolNames = ['root', 'meProfile', 'storageList', 'storageGet', 'storagePut', 'storageDelete', 'storageBatch']
const address = () => `http://localhost:${here.port}/sync/v1/mcp`

it.each(['mcp-sdk-2', 'mcp-sdk-1', 'ai-sdk-mcp', 'mcp-remote'])(
  '%s signs a member in at a registered client, lists the tools and calls one',
  async (name) => {
    const redirectUri = `http://localhost:${await freePort()}/oauth/callback`
    const client = await here.register({ type: 'native', redirectUri })
    const place = { cwd: directory, env: { MCP: address() } }
    const { member, tools } = await here.run([node, `${name}.mjs`], client, place)
    expect(member).toEqual(sandboxMember)
    expect(tools).toEqual(expect.arrayContaining(toolNames))
  },
)

it('the inspector lists the tools and calls one with a token', async () => {
  const client = await here.register({
    type: 'native',
    redirectUri: `http://localhost:${await freePort()}/oauth/callback`,
  })
  const { token, member } = await here.run([node, 'mcp-sdk-2.mjs'], client, { cwd: directory, env: { MCP: address() } })
  const inspect = async (...asked: string[]) => {
    const cli = [
      'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
      '--cli',
      address(),
      '--transport',
      'http',
    ]
    const words = [...cli, '--header', `Authorization: Bearer ${token}`, ...asked]
    return JSON.parse((await run(node, words, { cwd: directory })).stdout)
  }
  const { tools } = await inspect('--method', 'tools/list')
  expect(tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(toolNames))
  const { content } = await inspect('--method', 'tools/call', '--tool-name', 'meProfile')
  expect(JSON.parse(content[0].text).id).toBe(member)
})
