import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { migratedDatabase } from '../support/databases.ts'
import { dataDirectory, send, start } from './service.ts'

/** The address of a server that accepts connections, and `end`, which closes them without an answer. */
async function silent() {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    end()
    server.close()
  })
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, end }
}

it('a start does not wait for SMTP_URL and LOGIN_ISSUER, and warns once of each that it does not reach', async () => {
  const [mailServer, provider] = [await silent(), await silent()]
  const service = await start({
    DATA_DIR: await dataDirectory(),
    DATABASE_URL: await migratedDatabase(),
    NODE_ENV: 'production',
    SMTP_URL: `smtp://${mailServer.host}`,
    MAIL_FROM: 'apps@example.org',
    LOGIN_ISSUER: `http://${provider.host}`,
    LOGIN_CLIENT_ID: 'apps',
  })
  await expect.poll(() => [mailServer.sockets.length, provider.sockets.length]).toEqual([1, 1])
  mailServer.end()
  provider.end()
  const messages = () =>
    service
      .stdout()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line).msg as string)
  const said = () => messages().filter((text) => /the service listens|SMTP_URL cannot|LOGIN_ISSUER cannot/.test(text))
  await expect.poll(said).toHaveLength(3)
  expect((await send(service.internalPort, 'GET', '/readyz')).status).toBe(200)
  const [listens, ...warnings] = said()
  expect(listens).toBe('the service listens')
  expect(warnings.sort()).toEqual([
    expect.stringMatching(/^the mail server of SMTP_URL cannot be used: \S/),
    expect.stringMatching(/^the provider of LOGIN_ISSUER cannot be used: .*(?:ECONNRESET|fetch failed)/),
  ])
  expect([mailServer.sockets.length, provider.sockets.length]).toEqual([1, 1])
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
})
