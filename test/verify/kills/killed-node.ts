import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Service } from '../../process/service.ts'
import { command, dataDirectory, send, start } from '../../process/service.ts'
import type { AtEnd } from '../../support/databases.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { demoToken } from '../demo.ts'

/** A node that is killed, and started again in its place. */
export async function openNode(env: Record<string, string>, atEnd: AtEnd) {
  let service: Service = await start(env, { atEnd })
  return {
    port: () => service.port,
    async kill() {
      service.child.kill('SIGKILL')
      await service.ended
      service = await start(env, { atEnd })
    },
  }
}

interface Request {
  /** Of `sync`, or by default of `apps`. */
  host?: 'apps' | 'sync'
  headers?: object
  body?: unknown
}

/** Two nodes of the demo's storage, which is limited to no rate, to be used as Anna. */
export async function storageNodes(atEnd: AtEnd) {
  const env = { DATABASE_URL: await emptyDatabase(atEnd), DATA_DIR: await dataDirectory(atEnd), SECRETS_KEY }
  expect(await command('seed', [], env).ended).toMatchObject({ code: 0 })
  await query(env.DATABASE_URL, `UPDATE "Client" SET environment = 'sandbox'`)
  const authorization = `Bearer ${await demoToken(env.DATA_DIR, { client: 'trainer-app' })}`
  const nodes = [await openNode(env, atEnd), await openNode(env, atEnd)]
  let turn = 0
  const next = () => nodes[turn++ % nodes.length]!.port()
  return {
    env,
    authorization,
    /** The port of the node whose turn it is. */
    next,
    kill: (at: number) => nodes[at]!.kill(),
    /** Sends to the nodes in turn, until one answers; `repeats` is called for each that does not. */
    async call(method: string, path: string, { host = 'apps', headers, body }: Request = {}, repeats = () => {}) {
      for (;;) {
        const all = { host: `${host}.localhost`, authorization, ...headers }
        const answer = await send(next(), method, `/v1${path}`, { headers: all, body }).catch(() => undefined)
        if (answer && answer.status !== 503) return answer
        repeats()
        await pause(20)
      }
    },
  }
}
