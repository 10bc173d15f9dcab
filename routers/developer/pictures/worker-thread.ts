import { Worker } from 'node:worker_threads'
import { Semaphore, withTimeout } from 'async-mutex'
import { within } from '../../../prisma/within.ts'
import { errors } from '../../kernel/errors.ts'
import type { Fault } from '../shared/validation.ts'
import { PictureRefused } from './reencode.ts'

/** What a thread tells of its picture. */
export type Reply = { png: Uint8Array<ArrayBuffer> } | { refused: Fault } | { failed: string }

/** Per picture, with the start of its thread: 0.5 s on an idle machine, as the decoders bound the pixels. */
const DECODING_MS = 15_000
/** JavaScript's own; the pixels are bounded by the decoders. */
const MEMORY_MB = 64

/** Pictures of all teams, one after another: threads take CPU from requests too. A call waits no longer for its turn. */
const turn = withTimeout(new Semaphore(1), DECODING_MS, errors.unavailable())

/** The compiled one also for the sources, as threads know no loader for them. */
const dist = import.meta.url.endsWith('.ts') ? '../../../dist' : '..'
const thread = new URL(`${dist}/routers/developer/pictures/worker.js`, import.meta.url)

/**
 * `rewritten` in a thread of its own, which is ended after `ms`: to decode a picture takes up to 0.4 s, in which the process
 * answers nobody. Throws `PictureRefused`, and 503 where the machine is too busy for this picture or for those before it.
 */
export const reencodeInWorker = (bytes: Uint8Array, ms = DECODING_MS): Promise<Uint8Array<ArrayBuffer>> =>
  turn.runExclusive(() => run(bytes, ms))

async function run(bytes: Uint8Array, ms: number) {
  const worker = new Worker(thread, {
    workerData: bytes,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  try {
    const answered = new Promise<Reply>((resolve) => {
      worker.once('message', resolve)
      // As when its memory is used up.
      worker.once('error', (thrown) => resolve({ failed: String(thrown) }))
    })
    const reply = await within(ms, answered, null)
    if (reply === null) throw errors.unavailable(new Error(`a picture took longer than ${ms} ms`))
    if ('png' in reply) return reply.png
    if ('refused' in reply) throw new PictureRefused(reply.refused)
    throw new Error(reply.failed)
  } finally {
    await worker.terminate()
  }
}
