import pino from 'pino'
import type { Limit, Limits } from '../../../server/limits/limit.ts'
import { memoryLimits } from '../../../server/limits/memory.ts'
import { openRedisLimits } from '../../../server/limits/redis.ts'

// A process that limits requests as the service does; its parent says what to do (processes.ts).

export interface Outcome {
  passed: number
  refused: number
  failed: number
  /** Waited over 50 ms. */
  slow: number
  seconds: number
}

export type Task =
  /** `waits`: for Redis, however late it is. */
  | { do: 'open'; url: string; nodes: number; waits?: boolean }
  | { do: 'take'; points: number; key: string; count: number; atOnce?: number; windowSeconds?: number }
  | { do: 'load'; points: number; keys: number; everyMs: number }
  | { do: 'progress' }
  | { do: 'end' }
  | { do: 'close' }

const TURN_MS = 5
/** Milliseconds in which this process could run: what a busy machine takes from it is not the limit's doing. */
let ran = 0
let turn = performance.now()
setInterval(() => {
  const now = performance.now()
  ran += Math.min(now - turn, TURN_MS + 2)
  turn = now
}, TURN_MS)
const SLOW_MS = 50

let limits: Limits = memoryLimits()
const opened = new Map<string, Limit>()
const createLimit = (points: number, windowSeconds = 60) => {
  const name = `${points}-${windowSeconds}`
  if (!opened.has(name)) opened.set(name, limits.open(name, points, windowSeconds))
  return opened.get(name)!
}

const newOutcome = (): Outcome => ({ passed: 0, refused: 0, failed: 0, slow: 0, seconds: 0 })

async function takeOne(limit: Limit, key: string, outcome: Outcome) {
  const before = ran
  try {
    outcome[(await limit.take(key)).passes ? 'passed' : 'refused']++
  } catch {
    outcome.failed++
  }
  if (ran - before > SLOW_MS) outcome.slow++
}

async function takeMany(limit: Limit, key: string, count: number, atOnce: number) {
  const outcome = newOutcome()
  let left = count
  const taker = async () => {
    while (left-- > 0) await takeOne(limit, key, outcome)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, taker))
  return outcome
}

let load = newOutcome()
let started = 0
let timer: NodeJS.Timeout | undefined

async function perform(task: Task) {
  switch (task.do) {
    case 'open':
      clearInterval(timer)
      await limits.close()
      opened.clear()
      limits = await openRedisLimits({
        url: task.url,
        nodes: task.nodes,
        nextTurn: task.waits ? () => {} : undefined,
        log: pino({ base: null }, { write: (line) => void process.send!({ line }) }),
      })
      return limits.store()
    case 'take':
      return takeMany(createLimit(task.points, task.windowSeconds), task.key, task.count, task.atOnce ?? task.count)
    case 'load': {
      load = newOutcome()
      started = performance.now()
      let n = 0
      timer = setInterval(() => void takeOne(createLimit(task.points), `load${n++ % task.keys}`, load), task.everyMs)
      return load
    }
    case 'end':
      clearInterval(timer)
      return { ...load, seconds: (performance.now() - started) / 1000 }
    case 'progress':
      return { ...load, seconds: (performance.now() - started) / 1000 }
    case 'close':
      await limits.close()
      limits = memoryLimits()
      return null
  }
}

process.on('message', async ({ id, task }: { id: number; task: Task }) => {
  process.send!({ id, result: await perform(task) })
})
process.send!({ line: 'ready' })
