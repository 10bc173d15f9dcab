import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataDirectory, dataDirectoryWithCluster, freePort, start } from '../../process/service.ts'
import { selfSigned, startReceiver } from '../../webhooks/receiver.ts'
import { startedTogether } from '../at-end.ts'
import { npm } from '../install/npm.ts'
import { worldAt } from './clients-world.ts'

const HOST = 'tool.localhost'

/** A trial that reads clients' documents, from a server on this machine. */
const here = startedTogether(async (atEnd) => {
  const directory = await dataDirectory(atEnd)
  await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
  await npm(directory, 'install', '@modelcontextprotocol/sdk@1.32.2')
  await cp(join(import.meta.dirname, 'programs'), directory, { recursive: true })
  const redirectUri = `http://localhost:${await freePort()}/callback`
  const receiver = await startReceiver({
    certificate: selfSigned([HOST]),
    answer: ({ path, headers }, response) => {
      const document = {
        client_id: `https://${headers.host}${path}`,
        client_name: 'Tool',
        redirect_uris: [redirectUri],
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
    },
  })
  atEnd(receiver.close)
  const authority = join(directory, 'authority.pem')
  await writeFile(authority, receiver.ca)
  const settings = {
    DATA_DIR: await dataDirectoryWithCluster(atEnd),
    CLIENT_METADATA: 'true',
    WEBHOOK_ALLOW: '127.0.0.1',
    NODE_EXTRA_CA_CERTS: authority,
  }
  const { port } = await start(settings, { atEnd })
  const client = { id: receiver.url('/client.json', HOST), redirectUri }
  return { directory, client, ...worldAt(port, atEnd) }
})

it('the MCP SDK signs a member in at the address of a document, and renews', async () => {
  const { client, directory, port } = here
  const resource = `http://localhost:${port}/sync/v1`
  const place = { cwd: directory, env: { RESOURCE: resource } }
  expect(await here.run([process.execPath, 'mcp.mjs'], client, place)).toEqual({
    steps: ['REDIRECT', 'AUTHORIZED', 'AUTHORIZED'],
    client: client.id,
    resource,
    isNew: true,
    status: 200,
  })
})
