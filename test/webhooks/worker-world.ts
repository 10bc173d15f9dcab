import pino from 'pino'
import { onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { createSender } from '../../server/webhooks/send/send.ts'
import { startWorker } from '../../server/webhooks/worker.ts'
import type { QueueWorld } from './queue-world.ts'
import { startQueue } from './queue-world.ts'
import { selfSigned, startReceiver } from './receiver.ts'

type Answer = NonNullable<Parameters<typeof startReceiver>[0]>['answer']

/** Of all receivers of a file: of two authorities with one name, OpenSSL would take the wrong one. */
const certificate = selfSigned()

/** A receiver that ends with the test. */
export async function receiver(answer?: Answer) {
  const started = await startReceiver({ certificate, ...(answer && { answer }) })
  onTestFinished(() => started.close())
  return started
}

/** Answers with a status, the same each time or one after the other; the last one from then on. */
export const answering =
  (statuses: number[], headers: Record<string, string> = {}): NonNullable<Answer> =>
  (_received, response) =>
    void response.writeHead(statuses.length > 1 ? statuses.shift()! : statuses[0]!, headers).end('said')

/** Keeps its answers until they are let go. */
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
    letGo() {
      open = true
      for (const end of held.splice(0)) end()
    },
  }
}

export type WorkerWorld = Awaited<ReturnType<typeof startWorkers>>

interface Options {
  count?: number
  pollMs?: number
  /** The database that the workers have, when it is not that of the test. */
  db?: Database
}

/** A queue, and workers of this process that deliver it; their clock can be moved. */
export async function startWorkers({ count = 1, pollMs = 1_000, db }: Options = {}, world?: QueueWorld) {
  const queue = world ?? (await startQueue())
  let offsetMs = 0
  const now = () => Date.now() + offsetMs
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const { cert: ca } = await certificate
  const sender = createSender({ allow: ['127.0.0.1'], now, ca })
  const workers = Array.from({ length: count }, () =>
    startWorker({ db: db ?? queue.db, sender, cipher: queue.cipher, now, log, pollMs }),
  )
  const close = async (waitMs = 0) => {
    await Promise.all(workers.map((worker) => worker.close(waitMs)))
    sender.close()
  }
  onTestFinished(() => close())
  return {
    ...queue,
    now,
    close,
    lines: () => lines.map((line) => JSON.parse(line)),
    wake() {
      for (const worker of workers) worker.wake()
    },
    advance(ms: number) {
      offsetMs += ms
      for (const worker of workers) worker.wake()
    },
  }
}
