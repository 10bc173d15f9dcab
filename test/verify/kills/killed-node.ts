import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Service } from '../../process/service.ts'
import { command, dataDirectory, send, start } from '../../process/service.ts'
import { chance } from '../../support/chance.ts'
import type { AtEnd } from '../../support/databases.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import { demoToken } from '../demo.ts'

/** A node that is killed, and started again in its place. */
async function openNode(env: Record<string, string>, atEnd: AtEnd) {
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
  /** By default the host of `apps`. */
  host?: string
  headers?: object
  body?: unknown
  form?: URLSearchParams
}

/** Two nodes of the demo, whose storage is limited to no rate, to be used as Anna. */
export async function demoNodes(atEnd: AtEnd, settings: Record<string, string> = {}) {
  const own = { DATABASE_URL: await emptyDatabase(atEnd), DATA_DIR: await dataDirectory(atEnd), SECRETS_KEY }
  const env = { ...own, ...settings }
  expect(await command('seed', [], env).ended).toMatchObject({ code: 0 })
  await query(env.DATABASE_URL, `UPDATE "Client" SET environment = 'sandbox'`)
  const authorization = `Bearer ${await demoToken(env.DATA_DIR, { client: 'trainer-app' })}`
  const nodes = [await openNode(env, atEnd), await openNode(env, atEnd)]
  let turn = 0
  const next = () => nodes[turn++ % nodes.length]!.port()
  return {
    databaseUrl: env.DATABASE_URL,
    authorization,
    /** The port of the node whose turn it is. */
    next,
    /** Kills one of them now and then until it is over; resolves to how often. */
    async killUntil(isOver: () => boolean, name: string, maxPauseMs: number) {
      const draw = chance(name)
      let kills = 0
      for (; !isOver(); kills++) {
        await pause(draw(maxPauseMs))
        await nodes[draw(2)]!.kill()
      }
      return kills
    },
    /** Sends to one node after another, until one answers; `repeats` is called for each that does not. */
    async call(
      method: string,
      path: string,
      { host = 'apps.localhost', headers, body, form }: Request = {},
      repeats = () => {},
    ) {
      const all = { host, ...(!form && { authorization }), ...headers }
      const sent = { headers: all, body, ...(form && { form: form.toString() }) }
      for (;;) {
        const answer = await send(next(), method, `/v1${path}`, sent).catch(() => undefined)
        if (answer && answer.status !== 503) return answer
        repeats()
        await pause(20)
      }
    },
  }
}
