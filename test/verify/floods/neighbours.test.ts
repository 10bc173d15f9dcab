import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../../prisma/client.ts'
import { openDatabase } from '../../../prisma/client.ts'
import type { Service } from '../../process/service.ts'
import { dataDirectory, start } from '../../process/service.ts'
import { request } from '../../storage/client.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import type { Ids } from '../../support/tenant.ts'
import { createTenant } from '../../support/tenant.ts'
import { endingAfterAll } from '../at-end.ts'
import { demoToken } from '../demo.ts'
import { holdFigure } from '../held-figure.ts'
import type { Task } from '../loud-clients.ts'
import { delayedMs } from '../memory/process-figures.ts'

/** A quiet and a hostile phase follow each other so often, so that what else the machine does meets both alike. */
const ROUNDS = 3
const PHASE_MS = 2_500
/** The 99th percentile may be three times that of a quiet run; up to UNNOTICED_MS nobody notices, whatever the ratio. */
const MAX_RATIO = 3
const UNNOTICED_MS = 50

interface Team {
  ids: Ids
  token: string
}

let db: Database
let service: Service
let hostile: Team
let neighbours: Team[]
const agent = new Agent({ keepAlive: true })
const atEnd = endingAfterAll()

beforeAll(async () => {
  db = openDatabase(inject('databaseUrl'), () => {})
  const DATA_DIR = await dataDirectory(atEnd)
  const env = { DATA_DIR, DATABASE_URL: inject('databaseUrl'), SECRETS_KEY }
  service = await start({ ...env, LOG_LEVEL: 'error' }, { atEnd })
  const team = async (): Promise<Team> => {
    const ids = await createTenant(db)
    return { ids, token: await demoToken(DATA_DIR, { member: ids.member, organisation: ids.club, client: ids.client }) }
  }
  hostile = await team()
  neighbours = [await team(), await team()]
  const put = (path: string, { token }: Team, value: string) =>
    request(service.port, 'PUT', path, token, { agent, body: `{"value":"${value}"}` })
  expect((await put('/storage/large/k00000', hostile, 'x'.repeat(4_900_000)))!.status).toBe(200)
  for (const one of neighbours) expect((await put('/storage/small/k', one, 'small'))!.status).toBe(200)
})

afterAll(async () => {
  agent.destroy()
  await db.$disconnect()
})

/** What a neighbour does, one after the other, for a phase. */
async function sample({ token }: Team, ms: number) {
  const calls = [
    ['GET', '/me/profile', undefined],
    ['GET', '/storage/small/k', undefined],
    ['PUT', '/storage/small/k', '{"value":"small"}'],
    ['GET', '/storage/small', undefined],
  ] as const
  const taken: number[] = []
  const statuses: Record<string, number> = {}
  const end = performance.now() + ms
  for (let n = 0; performance.now() < end; n++) {
    const [method, path, body] = calls[n % calls.length]!
    const [startedAt, delayed] = [performance.now(), delayedMs(service.child.pid!)]
    const answer = await request(service.port, method, path, token, { agent, ...(body && { body }) })
    taken.push(performance.now() - startedAt - (delayedMs(service.child.pid!) - delayed))
    const status = String(answer?.status)
    statuses[status] = (statuses[status] ?? 0) + 1
    await sleep(5)
  }
  return { taken, statuses }
}

const percentile = (values: number[], part: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!

describe('two teams beside a hostile one', () => {
  it.each([
    ['large bodies', 20],
    ['slow readers', 40],
    ['batches', 20],
    ['bad tokens', 100],
  ] satisfies [Task['kind'], number][])(
    'are answered as quickly, to a factor of three, and never refused: %s',
    async (attack, count) => {
      const { port, internalPort } = service
      const task = JSON.stringify({ kind: attack, count, port, internalPort, token: hostile.token } satisfies Task)
      const attacker = fork(new URL('../loud-clients.ts', import.meta.url), [task], { execArgv: ['--import', 'tsx'] })
      await once(attacker, 'message')
      const measure = async (ms: number) => Promise.all(neighbours.map((one) => sample(one, ms)))
      // Connects and compiles.
      await measure(1_000)

      const quiet: Awaited<ReturnType<typeof measure>> = []
      const beside: typeof quiet = []
      let outcomes: Record<string, number> = {}
      for (let round = 0; round < ROUNDS; round++) {
        quiet.push(...(await measure(PHASE_MS)))
        attacker.send('start')
        await sleep(500)
        beside.push(...(await measure(PHASE_MS)))
        attacker.send('stop')
        ;[outcomes] = await once(attacker, 'message')
        // What the attack has left in flight ends.
        await sleep(2_000)
      }
      attacker.send('end')
      await once(attacker, 'exit')

      // The median of the phases: another program that keeps the machine busy for one of them changes nothing.
      const typical = (phases: typeof quiet, part: number) =>
        percentile(
          phases.map(({ taken }) => percentile(taken, part)),
          0.5,
        )
      const [quietMs, besideMs] = [typical(quiet, 0.99), typical(beside, 0.99)]
      const bound = Math.max(MAX_RATIO * quietMs, UNNOTICED_MS)
      holdFigure(`beside ${attack}`, besideMs, 'ms', bound)
      for (const { statuses } of beside) expect.soft(Object.keys(statuses)).toEqual(['200'])
      // It has really attacked.
      expect.soft(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20)
    },
  )
})
