// Runs in a thread of its own (worker-thread.ts): re-encodes one picture, posts the result, and ends.
import { parentPort, workerData } from 'node:worker_threads'
import { PictureRefused, rewritten } from './reencode.ts'
import type { Reply } from './worker-thread.ts'

const reply = (reply: Reply) => parentPort!.postMessage(reply)

rewritten(Buffer.from(workerData as Uint8Array)).then(
  (png) => reply({ png: new Uint8Array(png) }),
  (thrown) => reply(thrown instanceof PictureRefused ? { refused: thrown.fault } : { failed: String(thrown) }),
)
