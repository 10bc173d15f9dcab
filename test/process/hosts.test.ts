import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { migratedDatabase } from '../support/databases.ts'
import { dataDirectory, start } from './service.ts'

/** An address of this machine that other machines reach, if it has one. */
const outer = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

const accepts = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, host)
    const end = (accepted: boolean) => () => {
      socket.destroy()
      resolve(accepted)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })

const ports = (port: number, host: string, internalPort: number, internalHost: string) =>
  `\nports   ${port} (public) on ${host}, ${internalPort} (internal) on ${internalHost}\n`

describe.skipIf(outer === undefined)('the ports', () => {
  it('with DATABASE_URL are open to other machines on the public side only', async () => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await migratedDatabase() }
    const { port, internalPort, stdout } = await start(env)
    expect(stdout()).toContain(ports(port, 'every interface', internalPort, '127.0.0.1'))
    expect(await Promise.all([port, internalPort].map((one) => accepts(outer!, one)))).toEqual([true, false])
  })

  it('listen where HOST and INTERNAL_HOST say', async () => {
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL: await migratedDatabase() }
    const { port, internalPort, stdout } = await start({ ...env, HOST: '127.0.0.1', INTERNAL_HOST: outer! })
    expect(stdout()).toContain(`\ntRPC    http://${outer}:${internalPort}/trpc\n`)
    expect(stdout()).toContain(ports(port, '127.0.0.1', internalPort, outer!))
    expect(await Promise.all([port, internalPort].map((one) => accepts('127.0.0.1', one)))).toEqual([true, false])
    expect(await Promise.all([port, internalPort].map((one) => accepts(outer!, one)))).toEqual([false, true])
  })
})
