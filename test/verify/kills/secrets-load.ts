import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Service } from '../../process/service.ts'
import { send, start, until } from '../../process/service.ts'

/** What an app's template was set to last. */
export interface Template {
  url: string
  secret: string | undefined
}

const WRITERS = 4

/** Two nodes, which are restarted one after the other, so that one always serves: a balancer in front knows which. */
export async function startNodes(env: Record<string, string>) {
  const nodes = [await start(env), await start(env)]
  const asked = new Map<Service, number>(nodes.map((node) => [node, 0]))
  const resting = new Set<Service>()
  let turn = 0

  return {
    async request(method: string, path: string, headers: Record<string, string>, body?: unknown) {
      const serving = nodes.filter((node) => !resting.has(node))
      const node = serving[turn++ % serving.length]!
      asked.set(node, asked.get(node)! + 1)
      try {
        return await send(node.port, method, path, { headers, body })
      } finally {
        asked.set(node, asked.get(node)! - 1)
      }
    },
    /** Each in its turn, once nobody is asking it anything. */
    async restart(next: Record<string, string>) {
      for (const [i, node] of nodes.entries()) {
        resting.add(node)
        await until(
          async () => asked.get(node)!,
          (left) => left === 0,
        )
        const { code, stderr } = await node.stop()
        if (code !== 0) throw new Error(`It ended with ${code}: ${stderr}`)
        const another = await start(next)
        asked.set(another, 0)
        nodes[i] = another
      }
    },
  }
}

type Nodes = Awaited<ReturnType<typeof startNodes>>

/** Sets templates and reads them back, with short rests; each app is one writer's. */
export function startLoad(nodes: Nodes, token: string, apps: readonly string[]) {
  const last = new Map<string, Template>()
  const failures: string[] = []
  let written = 0
  let ending = false
  const headers = { host: 'notify.localhost', authorization: `Bearer ${token}` }

  const write = async (app: string) => {
    const random = randomBytes(12).toString('hex')
    const template = { url: `https://example.org/${random}`, secret: written % 5 === 0 ? undefined : `s-${random}` }
    const path = `/v1/apps/${app}/webhook`
    const wanted = JSON.stringify({ url: template.url, hasSecret: template.secret !== undefined })
    for (const [method, body] of [['PUT', template] as const, ['GET', undefined] as const]) {
      const { status, text } = await nodes.request(method, path, headers, body)
      if (status !== 200 || text !== wanted) failures.push(`${method} ${app}: ${status} ${text}, not ${wanted}`)
    }
    last.set(app, template)
    written++
  }
  const work = async (writer: number) => {
    const own = apps.filter((_, n) => n % WRITERS === writer)
    for (let n = 0; !ending; n++) {
      await write(own[n % own.length]!).catch((error) => failures.push(String(error)))
      await pause(20)
    }
  }
  const working = Promise.all(Array.from({ length: WRITERS }, (_, writer) => work(writer)))

  return {
    last,
    failures,
    written: () => written,
    /** Until every app has been written again. */
    async more() {
      const enough = written + 2 * apps.length
      await until(
        async () => written,
        (now) => now >= enough || failures.length > 0,
      )
    },
    async stop() {
      ending = true
      await working
    },
  }
}
