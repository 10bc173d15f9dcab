import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { chance } from '../../support/chance.ts'
import type { Reply } from '../../support/request.ts'
import { median } from '../memory/process-figures.ts'
import type { Program } from '../topology/program.ts'
import { openBadInput, openOperations } from './operations.ts'
import { signIn } from './sign-in.ts'
import { startSoakWorld } from './world.ts'

/** Requests at once. */
const CLIENTS = 8
/** Between two requests of a client: about 200 a second on two cores. */
const PAUSE_MS = 40
const WARM_UP_S = 15
/** Each collects garbage, which takes a process some 100 ms. */
const SAMPLE_MS = 3_000
/** The requests of a hundred that are bad. */
const BAD = 5

export const PROCESSES = ['node-1', 'node-2', 'worker']

/** A mixed load on the topology for a time, on an empty database, and what came of it. */
export async function runSoak(seconds: number, databaseUrl: string) {
  const failures: string[] = []
  const world = await startSoakWorld(databaseUrl, (service, line) => {
    // What no status of a request shows: the worker's errors, and a crash.
    // A warning may carry an error: that Redis took more than 45 ms, which a busy machine brings about.
    if (/"level":(?:50|60)|MaxListeners|uncaught|^(?!\{).*Error:/.test(line)) failures.push(`${service}: ${line}`)
  })
  try {
    const operations = await openOperations(world)
    const refused = (await openBadInput(world)).map((run) => ({ name: 'bad input', right: [], weight: 1, run }))
    // Each as often in this list as it is chosen, in tenths.
    const wanted = operations.flatMap((one) => Array.from({ length: one.weight * 10 }, () => one))
    const draw = chance('soak')
    const pick = <T>(from: readonly T[]): T => from[draw(from.length)]!
    const answered: Record<string, number> = {}
    const badStatuses = new Set<number>()
    let signIns = 0

    const isRight = (name: string, right: readonly number[], { status }: Reply) => {
      if (name === 'bad input') return status >= 400 && status < 500
      return right.includes(status) || (status === 429 && /^(?:root|me|storage)\b/.test(name))
    }
    const attempt = (name: string, run: () => Promise<unknown>) =>
      run().catch((error: Error) => void failures.push(`${name}: ${error.message}`))
    const call = ({ name, right, run }: (typeof operations)[number]) =>
      attempt(name, async () => {
        const reply = await run()
        answered[name] = (answered[name] ?? 0) + 1
        if (name === 'bad input') badStatuses.add(reply.status)
        if (!isRight(name, right, reply)) failures.push(`${name}: ${reply.status} ${reply.text.slice(0, 300)}`)
      })
    async function load(forSeconds: number) {
      const end = Date.now() + forSeconds * 1000
      const client = async () => {
        for (; Date.now() < end; await pause(PAUSE_MS)) await call(pick(draw(100) < BAD ? refused : wanted))
      }
      const members = async () => {
        for (; Date.now() < end; await pause(1_000)) await attempt('sign-in', () => signIn(world, signIns++))
      }
      await Promise.all([...Array.from({ length: CLIENTS }, client), members()])
    }

    const programs = PROCESSES.map((name) => world.topology.program(name))
    await load(WARM_UP_S)
    // Each operation once, also those that are rarely chosen.
    for (const operation of operations) await call(operation)
    await pause(3_000)
    const before = await Promise.all(programs.map(computeFigures))
    const samples: Figures[][] = programs.map(() => [])
    let isOver = false
    const sampling = Promise.all(
      programs.map(async (program, i) => {
        for (; !isOver; await pause(SAMPLE_MS)) samples[i]!.push(await computeFigures(program))
      }),
    )
    await load(seconds)
    isOver = true
    await sampling
    await pause(3_000)
    const after = await Promise.all(programs.map((program, i) => figuresAtRest(program, before[i]!)))
    const held = programs.map((_, i) => ({ rss: quarters(samples[i]!), before: before[i]!, after: after[i]! }))
    return { answered, badStatuses, failures, signIns, deliveries: world.receiver.received.length, held }
  } finally {
    await world.close()
  }
}

/** What a process holds: memory in bytes, after a full collection of garbage. */
interface Figures {
  rss: number
  /** How many things keep the process alive. */
  handles: number
  listeners: number
  warnings: number
  /** Open file descriptors. */
  files: number
}

async function computeFigures({ child }: Program): Promise<Figures> {
  const answered = once(child, 'message')
  child.send('figures')
  const [[answer], files] = await Promise.all([answered, readdir(`/proc/${child.pid}/fd`)])
  return { ...(answer as Omit<Figures, 'files'>), files: files.length }
}

/** The same at rest: once it holds no more than `before`, or 20 s have passed. */
async function figuresAtRest(program: Program, before: Figures): Promise<Figures> {
  for (let waited = 0; ; waited += 500) {
    const figures = await computeFigures(program)
    if ((figures.files <= before.files && figures.handles <= before.handles) || waited >= 20_000) return figures
    await pause(500)
  }
}

/** The medians of the memory in the four quarters of a run, in MB. */
function quarters(samples: readonly Figures[]): number[] {
  const size = samples.length / 4
  return [0, 1, 2, 3].map((n) => {
    const quarter = samples.slice(Math.floor(n * size), Math.floor((n + 1) * size))
    return Math.round(median(quarter.map(({ rss }) => rss)) / 1e5) / 10
  })
}
