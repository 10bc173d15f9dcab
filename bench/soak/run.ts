import { setTimeout as pause } from 'node:timers/promises'
import type { Reply } from '../../test/support/request.ts'
import { openBadInput } from './bad-input.ts'
import type { Figures } from './figures.ts'
import { figuresAtRest, figuresOf, handlesOf, quarters } from './figures.ts'
import type { Operation } from './operations.ts'
import { openOperations } from './operations.ts'
import { signIn } from './sign-in.ts'
import { startSoakWorld } from './world.ts'

/** Requests at once. */
const CLIENTS = 8
const WARM_UP_MS = 15_000
/** Each collects garbage, which takes a process some 100 ms. */
const SAMPLE_MS = 3_000
const BAD_SHARE = 0.05

const PROCESSES = ['node-1', 'node-2', 'worker']

export interface SoakOptions {
  seconds: number
  /** A PostgreSQL server; without one an embedded one is started. */
  server: string | undefined
  /** Of each client between two requests: with 10 ms about 500 requests a second on two cores. */
  pauseMs?: number
}

export interface Held {
  process: string
  /** Medians of the run's quarters, in MB. */
  rss: number[]
  heap: number[]
  before: Figures
  after: Figures
}

/** A mixed load on the topology for a time, and what came of it. */
export async function runSoak({ seconds, server, pauseMs = 10 }: SoakOptions) {
  const failures: string[] = []
  const world = await startSoakWorld(server, (service, line) => {
    // What no status of a request shows: the worker's errors, and a crash.
    // A warning may carry an error: that Redis took more than 45 ms, which a busy machine brings about.
    if (/"level":(?:50|60)|MaxListeners|uncaught|^(?!\{).*Error:/.test(line)) failures.push(`${service}: ${line}`)
  })
  try {
    const operations = await openOperations(world)
    const bad = await openBadInput(world)
    const answered: Record<string, Record<number, number>> = {}
    const isRight = ({ name, right }: Operation, { status }: Reply) =>
      right.includes(status) || (status === 429 && /^(?:root|me|storage)\b/.test(name))
    const record = (name: string, reply: Reply, right: boolean) => {
      const counts = answered[name] ?? {}
      answered[name] = { ...counts, [reply.status]: (counts[reply.status] ?? 0) + 1 }
      if (!right || reply.status >= 500) failures.push(`${name}: ${reply.status} ${reply.text.slice(0, 300)}`)
    }
    const attempt = async (name: string, run: () => Promise<void>) =>
      run().catch((error: Error) => void failures.push(`${name}: ${error.message}`))

    // Each as often in this list as it is chosen, in tenths.
    const chances = operations.flatMap((one) => Array.from({ length: (one.weight ?? 1) * 10 }, () => one))
    const choose = () => chances[Math.floor(Math.random() * chances.length)]!
    let signIns = 0
    async function load(milliseconds: number) {
      const end = Date.now() + milliseconds
      const client = async () => {
        for (; Date.now() < end; await pause(pauseMs)) {
          const operation = choose()
          if (Math.random() >= BAD_SHARE) {
            await attempt(operation.name, async () => {
              const reply = await operation.run()
              record(operation.name, reply, isRight(operation, reply))
            })
            continue
          }
          await attempt('bad input', async () => {
            const reply = await bad[Math.floor(Math.random() * bad.length)]!()
            record('bad input', reply, reply.status >= 400)
          })
        }
      }
      const members = async () => {
        for (; Date.now() < end; await pause(1_000)) {
          const n = signIns++
          await attempt('sign-in', () => signIn(world, world.people[n % world.people.length]!, n))
        }
      }
      await Promise.all([...Array.from({ length: CLIENTS }, client), members()])
    }

    const programs = PROCESSES.map((name) => world.topology.program(name))
    await load(WARM_UP_MS)
    // Each operation once, also those that are rarely chosen.
    for (const operation of operations) {
      await attempt(operation.name, async () => {
        const reply = await operation.run()
        record(operation.name, reply, isRight(operation, reply))
      })
    }
    await pause(3_000)
    const before = await Promise.all(programs.map((program) => figuresAtRest(program, () => true)))
    const samples: Figures[][] = programs.map(() => [])
    let isOver = false
    const sampling = Promise.all(
      programs.map(async (program, i) => {
        for (; !isOver; await pause(SAMPLE_MS)) samples[i]!.push(await figuresOf(program))
      }),
    )
    await load(seconds * 1000)
    isOver = true
    await sampling
    await pause(3_000)
    const isAsBefore = (i: number) => (now: Figures) =>
      now.files <= before[i]!.files && handlesOf(now) <= handlesOf(before[i]!)
    const after = await Promise.all(programs.map((program, i) => figuresAtRest(program, isAsBefore(i))))
    const held = PROCESSES.map((process, i): Held => {
      const own = samples[i]!
      return { process, rss: quarters(own, 'rss'), heap: quarters(own, 'heap'), before: before[i]!, after: after[i]! }
    })
    const { count: deliveries } = await world.receiver.heard()
    const requests = Object.values(answered).reduce(
      (sum, counts) => sum + Object.values(counts).reduce((a, b) => a + b, 0),
      0,
    )
    return { requests, answered, failures, signIns, deliveries, held }
  } finally {
    await world.close()
  }
}
