import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import type { Program } from '../../process/service.ts'
import { run } from '../../process/service.ts'
import { chance, seed } from '../../support/chance.ts'
import { times } from '../../support/rounds.ts'
import { startQueue } from '../../webhooks/queue-world.ts'
import type { Received } from '../../webhooks/receiver.ts'
import { receiver } from '../../webhooks/worker-world.ts'

const MESSAGES = times(1_600, 600)
const WORKERS = 3
const SUBSCRIPTIONS = 12

const ofKills = chance('kills')
const ofAnswers = chance('answers')

const program = fileURLToPath(new URL('worker-process.ts', import.meta.url))

it(`kill -9 of workers loses no message, and repeats only identical ones (seed ${seed})`, async () => {
  const rounds = times(8, 3)
  const arrived = new Map<string, Arrival>()
  const to = await receiver((received, response) => void record(arrived, received, response))
  const { databaseUrl, secretsKey, subscribe, publish, states, db } = await startQueue()
  const start = await starter({
    databaseUrl,
    secretsKey: secretsKey.toString('base64'),
    ca: to.ca,
    leaseMs: 3_000,
    pollMs: 100,
    retryDelays: Array(60).fill(0.2),
  })
  const subscriptions = await Promise.all(
    Array.from({ length: SUBSCRIPTIONS }, (_, i) => subscribe(to.url(`/${i}`), `secret-${i}`)),
  )
  const workers = await Promise.all(Array.from({ length: WORKERS }, start))

  const ids: string[] = []
  for (let round = 0; round < rounds; round++) {
    ids.push(...(await publish(subscriptions, { count: MESSAGES / rounds })))
    const before = to.received.length
    await expect.poll(() => to.received.length).toBeGreaterThan(before + 10)
    await pause(ofKills(100))
    const victim = ofKills(WORKERS)
    workers[victim]!.child.kill('SIGKILL')
    await workers[victim]!.ended
    workers[victim] = await start()
  }
  await expect.poll(states, { interval: 200 }).toEqual({ delivered: MESSAGES })

  const accepted = [...arrived].filter(([, { accepted }]) => accepted > 0).map(([id]) => id)
  expect(accepted.toSorted()).toEqual(ids.toSorted())
  expect([...arrived.values()].filter(({ bodies }) => bodies.size > 1)).toEqual([])
  // Recorded attempts: as many as the receiver saw, or fewer where a worker was killed before recording one.
  const rows = await db.delivery.findMany({ select: { id: true, attempts: true } })
  const tooMany = rows.filter(({ id, attempts }) => attempts > arrived.get(id)!.times)
  expect(tooMany).toEqual([])

  const twice = [...arrived.values()].filter(({ accepted }) => accepted > 1).length
  const again = [...arrived.values()].filter(({ times }) => times > 1).length
  process.stdout.write(
    `${rounds} kills, ${MESSAGES} messages: 0 lost, ${twice} accepted twice, ${again} sent more than once\n`,
  )
})

interface Arrival {
  times: number
  accepted: number
  bodies: Set<string>
}

/** Two requests of a hundred lose their connection after they were read, and 15 fail. */
async function record(arrived: Map<string, Arrival>, { headers, body }: Received, response: ServerResponse) {
  const id = String(headers['webhook-id'])
  const arrival = arrived.get(id) ?? { times: 0, accepted: 0, bodies: new Set() }
  arrived.set(id, arrival)
  arrival.times++
  arrival.bodies.add(body)
  await pause(ofAnswers(20))
  const drawn = ofAnswers(100)
  if (drawn < 2) response.destroy()
  else if (drawn < 17) response.writeHead(500).end()
  else {
    arrival.accepted++
    response.writeHead(204).end()
  }
}

/** Returns a function that starts a worker and waits until it runs. All of them are killed when the test ends. */
async function starter(given: object) {
  const started: Program[] = []
  onTestFinished(async () => {
    for (const { child } of started) child.kill('SIGKILL')
    await Promise.all(started.map(({ ended }) => ended))
  })
  return async () => {
    const worker = run(['--import', import.meta.resolve('tsx'), program, JSON.stringify(given)], {})
    started.push(worker)
    await expect.poll(() => worker.stdout()).toContain('ready')
    return worker
  }
}
