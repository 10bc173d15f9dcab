import pino from 'pino'
import { onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { DueWatch } from '../../routers/kernel/due-watch.ts'
import type { DeliveryMetrics } from '../../server/telemetry/delivery-metrics.ts'
import type { Tracing } from '../../server/telemetry/trace-context.ts'
import type { TIMEOUTS } from '../../server/webhooks/send/send.ts'
import { createSender } from '../../server/webhooks/send/send.ts'
import { startWorker } from '../../server/webhooks/worker.ts'
import type { QueueWorld } from './queue-world.ts'
import { startQueue } from './queue-world.ts'
import { selfSigned, startReceiver } from './receiver.ts'

type Answer = NonNullable<Parameters<typeof startReceiver>[0]>['answer']

/** Shared by all receivers: of two authorities with the same name, OpenSSL may pick the wrong one. */
const certificate = selfSigned()

/** A busy machine is not a slow receiver. */
const LONG = { connectMs: 60_000, totalMs: 60_000 }

/** A receiver that is closed when the test ends. */
export async function receiver(answer?: Answer) {
  const started = await startReceiver({ certificate, ...(answer && { answer }) })
  onTestFinished(() => started.close())
  return started
}

/** Responds with these statuses, one after the other, and keeps responding with the last. */
export const answering =
  (statuses: number[], headers: Record<string, string> = {}): NonNullable<Answer> =>
  (_received, response) =>
    void response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!, headers).end('said')

/** Holds back its responses until `release` is called. */
export function holding() {
  const held: (() => void)[] = []
  let open = false
  const answer: NonNullable<Answer> = (_received, response) => {
    const end = () => void response.writeHead(204).end()
    if (open) end()
    else held.push(end)
  }
  return {
    answer,
    release() {
      open = true
      for (const end of held.splice(0)) end()
    },
  }
}

export type WorkerWorld = Awaited<ReturnType<typeof startWorkers>>

interface Options {
  count?: number
  pollMs?: number
  restMs?: number
  watch?: DueWatch
  /** The workers' database, if not the test's own. */
  db?: Database
  retryDelays?: readonly number[]
  timeouts?: Partial<typeof TIMEOUTS>
  metrics?: DeliveryMetrics
  tracing?: Tracing
}

/** A queue and workers in this process that deliver it. Their clocks can be moved. */
export async function startWorkers(
  { count = 1, pollMs = 250, db, timeouts, ...more }: Options = {},
  world?: QueueWorld,
) {
  const queue = world ?? (await startQueue())
  let offsetMs = 0
  let advancedMs = 0
  const now = () => Date.now() + offsetMs
  const clock = () => performance.now() + advancedMs
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const { cert: ca } = await certificate
  const sender = createSender({ allow: ['127.0.0.1'], now, ca, timeouts: { ...LONG, ...timeouts } })
  const workers = Array.from({ length: count }, () =>
    startWorker({ db: db ?? queue.db, sender, cipher: queue.cipher, now, clock, log, pollMs, ...more }),
  )
  const close = async (waitMs = 0) => {
    await Promise.all(workers.map((worker) => worker.close(waitMs)))
    sender.close()
  }
  onTestFinished(() => close())
  return {
    ...queue,
    workers,
    now,
    close,
    lines: () => lines.map((line) => JSON.parse(line)),
    wake() {
      for (const worker of workers) worker.wake()
    },
    /** Moves the system clock, but not the one that only goes forward. */
    setClock(ms: number) {
      offsetMs += ms
    },
    advance(ms: number) {
      offsetMs += ms
      advancedMs += ms
      for (const worker of workers) worker.wake()
    },
  }
}
