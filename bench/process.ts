import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import type { HeapHistory } from './allocation.ts'
import { allocatedBytes } from './allocation.ts'

const METER = new URL('meter.mjs', import.meta.url).href

const pins = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
export const pinned = pins ? 'the server pinned to core 0, the load to core 1' : 'not pinned'

/** Spawns Node, pinned to `core` if the system has taskset. */
function start(core: 0 | 1 | null, args: string[], env: NodeJS.ProcessEnv): ChildProcess {
  const pin = pins && core !== null ? ['taskset', '-c', String(core)] : []
  const [file, ...rest] = [...pin, process.execPath, ...args]
  return spawn(file!, rest, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'json',
  })
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM') {
  if (child.exitCode !== null) return
  child.kill(signal)
  await once(child, 'exit')
}

async function ask<Answer>(child: ChildProcess, question: 'cpu' | 'rss' | 'allocating' | 'allocated'): Promise<Answer> {
  child.send(question)
  const [answer] = await once(child, 'message')
  return answer
}

async function cpuOf(child: ChildProcess): Promise<number> {
  const { user, system } = await ask<NodeJS.CpuUsage>(child, 'cpu')
  return user + system
}

/** A measured process without a known port. */
export interface Metered {
  child: ChildProcess
  /** CPU time of the process so far, in microseconds. */
  cpu: () => Promise<number>
  stop: (signal?: NodeJS.Signals) => Promise<void>
}

/** Not pinned to a core. */
export function startMetered(args: string[], env: NodeJS.ProcessEnv): Metered {
  const child = start(null, ['--import', METER, ...args], env)
  return { child, cpu: () => cpuOf(child), stop: (signal) => end(child, signal) }
}

/** Not measured. */
export function startPinned(core: 0 | 1, args: string[], env: NodeJS.ProcessEnv) {
  const child = start(core, args, env)
  return { child, stop: () => end(child) }
}

export interface Server {
  port: number
  /** CPU time of the process so far, in microseconds. */
  cpu: () => Promise<number>
  /** Resident memory in bytes. */
  rss: () => Promise<number>
  /** What the process allocates while `work` runs, in bytes of V8's heap. */
  allocated: (work: () => Promise<unknown>) => Promise<number>
  tell: (message: object) => void
  stop: () => Promise<void>
}

/** `args` are Node's. The server listens on PORT; `other` is the port to measure instead. */
export async function startServer(args: string[], env: NodeJS.ProcessEnv, other?: number): Promise<Server> {
  const own = await freePort()
  const port = other ?? own
  const child = start(0, ['--import', METER, ...args], { ...env, PORT: String(own) })
  await listening(child, port).catch(async (error) => {
    await end(child)
    throw error
  })
  return {
    port,
    cpu: () => cpuOf(child),
    rss: () => ask(child, 'rss'),
    async allocated(work) {
      await ask(child, 'allocating')
      await work()
      return allocatedBytes(await ask<HeapHistory>(child, 'allocated'))
    },
    tell: (message) => void child.send(message),
    stop: () => end(child),
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0)
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
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
