// Runs in a thread of its own (apart.ts): re-encodes one picture, tells the result, and ends.
import { parentPort, workerData } from 'node:worker_threads'
import type { Told } from './apart.ts'
import { PictureRefused, rewritten } from './rewrite.ts'

const tell = (told: Told) => parentPort!.postMessage(told)

rewritten(Buffer.from(workerData as Uint8Array)).then(
  (png) => tell({ png: new Uint8Array(png) }),
  (thrown) => tell(thrown instanceof PictureRefused ? { refused: thrown.message } : { failed: String(thrown) }),
)
