import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { SECRETS_KEY } from '../../support/secrets-key.ts'
import type { DemoClaims } from '../demo.ts'
import { demoToken } from '../demo.ts'

export interface Call {
  internal?: boolean
  token: string
  /** Default: the host of the apps section. */
  host?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

export type ForkedService = Awaited<ReturnType<typeof forkService>>

/** Starts the service in a child process that reports on its event loop. */
export async function forkService(databaseUrl: string, more: Record<string, string> = {}) {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'member-apps-test-'))
  const own = { DATABASE_URL: databaseUrl, DATA_DIR, SECRETS_KEY, WEBHOOK_WORKER: 'false' }
  const settings = JSON.stringify({ ...own, ...more })
  const child = fork(new URL('event-loop-service.ts', import.meta.url), [settings], { execArgv: ['--import', 'tsx'] })
  const [ports] = await once(child, 'message')
  const agent = new Agent({ keepAlive: true })

  /** The longest time in milliseconds that the event loop was blocked since the last call. */
  const heldMs = async (): Promise<number> => {
    child.send('')
    const [longest] = await once(child, 'message')
    return longest
  }

  return {
    pid: child.pid!,
    publicPort: ports.publicPort as number,
    token: (claims: DemoClaims) => demoToken(DATA_DIR, claims),

    /** Returns the status and size of the response. */
    call(method: string, path: string, { internal, token, host = 'apps.localhost', headers, body }: Call) {
      const sent = request({
        host: '127.0.0.1',
        port: internal ? ports.internalPort : ports.publicPort,
        agent,
        method,
        path,
        headers: {
          host,
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
      })
      return new Promise<{ status: number; size: number }>((resolve, reject) => {
        sent.on('error', reject)
        sent.on('response', (response) => {
          let size = 0
          response.on('data', (chunk: Buffer) => {
            size += chunk.length
          })
          response.on('end', () => resolve({ status: response.statusCode!, size }))
          response.on('error', reject)
        })
        sent.end(body)
      })
    },

    /**
     * The shortest block of the event loop over six runs at most, in milliseconds: excludes JIT warm-up and stray garbage
     * collection. The first one below `limitMs` ends it.
     */
    async leastHeldMs(work: () => Promise<unknown>, limitMs: number): Promise<number> {
      let least = Number.POSITIVE_INFINITY
      for (let run = 0; run < 6 && least >= limitMs; run++) {
        await heldMs()
        await work()
        // Includes the garbage collection after a response.
        await setTimeout(20)
        least = Math.min(least, await heldMs())
      }
      return least
    },

    async close() {
      agent.destroy()
      child.disconnect()
      await once(child, 'exit')
      await rm(DATA_DIR, { recursive: true, force: true })
    },
  }
}
