/** A worker with a short lease and short retry delays, run as a process by a test that kills it. */
import pino from 'pino'
import { openDatabase } from '../../../prisma/client.ts'
import { createCipher } from '../../../server/secrets/cipher.ts'
import { createSender } from '../../../server/webhooks/send/send.ts'
import { startWorker } from '../../../server/webhooks/worker.ts'

export interface Given {
  databaseUrl: string
  secretsKey: string
  /** The authority of the receiver's certificate, as PEM. */
  ca: string
  leaseMs: number
  pollMs: number
  /** Seconds. */
  retryDelays: number[]
}

const { databaseUrl, secretsKey, ca, ...times }: Given = JSON.parse(process.argv[2]!)
const now = Date.now
startWorker({
  ...times,
  db: openDatabase(databaseUrl, () => {}),
  sender: createSender({ allow: ['127.0.0.1'], now, ca }),
  cipher: createCipher([Buffer.from(secretsKey, 'base64')]),
  now,
  log: pino(),
})
process.stdout.write('ready\n')
