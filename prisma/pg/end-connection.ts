import type { Client } from 'pg'
import { within } from '../within.ts'
import { getSocket } from './pg-internals.ts'

const END_MS = 1_000

/** pg waits for the server to close the connection too, which one that is silent never does. */
export async function endConnection(client: Client): Promise<void> {
  await within(
    END_MS,
    client.end().catch(() => {}),
  )
  getSocket(client).destroy()
}
