import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { OWN } from './runtimes.ts'

const METER = new URL('meter.mjs', import.meta.url).href
export const TSX = ['--import', 'tsx']

const pins = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
export const pinned = pins ? 'the server pinned to core 0, the load and an embedded PostgreSQL to core 1' : 'not pinned'

/** Moves a process, and those that it starts from then on, to the load's core. */
export function pinBesideLoad(pid: number) {
  if (pins) spawnSync('taskset', ['-c', '-p', '1', String(pid)])
}

/** Spawns a runtime, pinned to `core` if the system has taskset. */
export function start(core: 0 | 1 | null, args: string[], env: NodeJS.ProcessEnv, executable = OWN.file) {
  const pin = pins && core !== null ? ['taskset', '-c', String(core)] : []
  const [file, ...rest] = [...pin, executable, ...args]
  const child = spawn(file!, rest, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  return { child, stop: () => end(child) }
}

async function end(child: ChildProcess) {
  if (child.exitCode !== null) return
  child.kill()
  await once(child, 'exit')
}

/** Sends a message; resolves with the child's next one. */
export async function ask<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  child.send(question)
  const [answer] = await once(child, 'message')
  return answer
}

/** In ms of the epoch. */
export interface Span {
  from: number
  to: number
}

export interface Stops {
  garbage: Span[]
  /** Turns of the event loop; `taken` is how long other processes had the core, in ms. */
  turns: (Span & { taken: number })[]
}

export interface Metered {
  child: ChildProcess
  /** CPU time of the process so far, in µs. */
  cpu: () => Promise<number>
  /** Records when the process could not work; the result ends that. */
  watch: () => Promise<() => Promise<Stops>>
  stop: () => Promise<void>
}

export const startMetered = (core: 0 | null, args: string[], env: NodeJS.ProcessEnv, { file, flags } = OWN) =>
  metered(start(core, [...flags(METER), ...args], env, file))

/** For a process that loads the meter. */
export function metered({ child, stop }: ReturnType<typeof start>): Metered {
  const watch = async () => {
    await ask(child, 'watch')
    return () => ask<Stops>(child, 'stops')
  }
  return { child, cpu: () => ask(child, 'cpu'), watch, stop }
}

export interface Server extends Metered {
  port: number
  /** Resident memory in bytes. */
  rss: () => Promise<number>
  /** Bytes that the process allocates in V8's heap while `work` runs. */
  allocated: (work: () => Promise<unknown>) => Promise<number>
}

/** `args` are the runtime's. The server listens on PORT. */
export async function startServer(args: string[], env: NodeJS.ProcessEnv, runtime = OWN): Promise<Server> {
  const port = await freePort()
  const server = startMetered(0, args, { ...env, PORT: String(port) }, runtime)
  const { child, stop } = server
  await listening(child, port).catch(async (error) => {
    await stop()
    throw error
  })
  return {
    ...server,
    port,
    rss: () => ask(child, 'rss'),
    async allocated(work) {
      await ask(child, 'allocating')
      await work()
      return ask(child, 'allocated')
    },
  }
}

/** Handed out: the system may name a port again as soon as nothing listens there. */
const handedOut = new Set<number>()

/** A port on which nothing listens, another one each time. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0)
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  if (handedOut.has(port)) return freePort()
  handedOut.add(port)
  return port
}

/** Waits for any HTTP response, 30 seconds at most. */
async function listening(child: ChildProcess, port: number) {
  const deadline = Date.now() + 30_000
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => null))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('The server did not start.')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
