import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JWK } from 'jose'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { mintToken } from '../../server/tokens/development.ts'
import { send } from './request.ts'
import { hosts as names } from './tenant-calls.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The service at CONFORMANCE_ADDRESS. */
    address: { hosts: typeof names; port: number; internalPort: number | undefined; key: JWK }
  }
}

/** Finds the service at CONFORMANCE_ADDRESS, with its database and the key that it trusts, which are those of DATA_DIR. */
export default async function setup(project: TestProject) {
  const { CONFORMANCE_ADDRESS, CONFORMANCE_INTERNAL_PORT, DATA_DIR = '.data', CONFORMANCE_LEAST = 1 } = process.env
  const { host, port: given } = new URL(CONFORMANCE_ADDRESS!)
  const port = Number(given || 80)
  const internalPort = CONFORMANCE_INTERNAL_PORT ? Number(CONFORMANCE_INTERNAL_PORT) : undefined

  const found = await send(port, 'GET', '/apps/v1/openapi.json', { headers: { host } }).catch(({ message }) => {
    throw new Error(`Nothing answers at ${CONFORMANCE_ADDRESS}: ${message}`)
  })
  const urls: URL[] = (found.body?.servers ?? []).map(({ url }: { url: string }) => new URL(url))
  const local = urls.find(({ pathname }) => pathname === '/apps/v1')?.host
  const ofApps = urls.find(({ pathname }) => pathname === '/v1')?.host
  if (!local || !ofApps) throw new Error(`No trial of the service answers at ${CONFORMANCE_ADDRESS}.`)
  const entries = Object.keys(names).map((name) => [name, name === 'local' ? local : ofApps.replace(/^apps/, name)])
  const hosts: typeof names = Object.fromEntries(entries)

  const key: JWK = JSON.parse(await readFile(join(DATA_DIR, 'development-key.json'), 'utf8'))
  const claims = { member: 'nobody', organisation: 'nowhere', client: 'trainer-app', scope: '', expiresInSeconds: 60 }
  const authorization = `Bearer ${await mintToken(key, claims)}`
  const { status } = await send(port, 'GET', '/v1', { headers: { host: ofApps, authorization } })
  if (status !== 200) throw new Error(`${DATA_DIR} is not the DATA_DIR of the service at ${CONFORMANCE_ADDRESS}.`)

  const database = await startEmbedded(DATA_DIR)
  // What tests write need not survive a crash.
  project.provide('databaseUrl', `${database.url}?options=-c%20synchronous_commit%3Doff`)
  project.provide('address', { hosts, port, internalPort, key })
  return async () => {
    await database.stop()
    const tests = project.vitest.state.getTestModules().flatMap(({ children }) => [...children.allTests()])
    const passed = tests.filter((test) => test.result().state === 'passed').length
    if (passed < Number(CONFORMANCE_LEAST)) throw new Error(`${passed} tests passed, of at least ${CONFORMANCE_LEAST}.`)
  }
}
