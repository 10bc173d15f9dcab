import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { freePort, send, until } from '../../process/service.ts'
import { endProgram, expectRunning, lacking, startProgram } from './program.ts'

export const hasHaproxy = lacking('haproxy').length === 0

export interface Place {
  port: number
  internalPort: number
}

/** HAProxy in front of nodes at these ports, as docs/operations.md has it but with quicker checks; it ends with the test. */
export async function startHaproxy(places: readonly Place[]) {
  const [port, statsPort] = [await freePort(), await freePort()]
  const servers = places.map(
    (place, number) => `  server ${number} 127.0.0.1:${place.port} check port ${place.internalPort}`,
  )
  const configuration = `
global
  maxconn 2000
defaults
  mode http
  # Nothing is hidden by asking another node.
  retries 0
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend public
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
  option httpchk GET /readyz
  timeout check 2s
  default-server inter 100ms fall 3 rise 1
${servers.join('\n')}
frontend stats
  bind 127.0.0.1:${statsPort}
  stats enable
  stats uri /
`
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-haproxy-'))
  await writeFile(join(directory, 'haproxy.cfg'), configuration)
  const program = startProgram(['haproxy', '-db', '-f', 'haproxy.cfg'], { cwd: directory })
  onTestFinished(async () => {
    await endProgram(program)
    await rm(directory, { recursive: true, force: true })
  })

  /** `UP`, `DOWN`; `UP 1/3` is one that is on its way down, or not checked yet, and gets requests. */
  const states = async (): Promise<(string | undefined)[]> => {
    expectRunning(program)
    const csv = await send(statsPort, 'GET', '/;csv').catch(() => undefined)
    const rows = csv?.text.split('\n').map((line) => line.split(',')) ?? []
    return places.map(
      (_, number) => rows.find(([backend, server]) => backend === 'nodes' && server === String(number))?.[17],
    )
  }
  return {
    port,
    /** Resolves when this node gets no more requests. */
    lacks: (node: number) => until(states, (found) => found[node]?.startsWith('DOWN') === true),
    /** Resolves when this node is believed to be ready. */
    has: (node: number) => until(states, (found) => found[node] === 'UP'),
  }
}
