import { Agent, request as sent } from 'node:http'
import { constants, setPriority } from 'node:os'
import { crc32 } from 'node:zlib'
import { percentile } from '../figures.ts'
// Not preloaded: a message that arrived before the listener below would be lost.
import '../servers/meter.mjs'
import { normalizeContent } from './content.ts'
import type { Asked, ClosedLoad, Opened, OpenLoad, RequestSet, Sent } from './process.ts'
import { isTraced, toTraceparent } from './trace-ids.ts'

/** Sends requests and checks every answer, in a separate process. */

const sets = new Map<string, RequestSet>()
/** For all sets of one agreement: the content of the first answer to each request. */
const said = new Map<string, string[]>()
/** The checksum of the last correct answer: an equal one need not be parsed. Kept answers made for collections of 10 to 20 ms. */
const right = new Map<string, (number | undefined)[]>()

const SUCCESS: (number | undefined)[] = [200, 201, 204]

/** Checks that the answers to a request have the same content, whichever server they come from. */
function createCheck({ name, agreement, form, masked }: RequestSet) {
  const [known, equal] = [said.get(agreement) ?? [], right.get(name) ?? []]
  said.set(agreement, known)
  right.set(name, equal)
  const found = { wrong: 0, sample: '' }
  const fail = (what: string) => {
    found.wrong++
    found.sample ||= what.slice(0, 2_000)
  }
  const answer = (i: number, status: number | undefined, body: Buffer) => {
    if (!SUCCESS.includes(status)) return fail(`${status} ${body}`)
    const sum = crc32(body)
    if (equal[i] === sum) return
    try {
      const content = normalizeContent(body.toString(), form, masked)
      known[i] ??= content
      if (known[i] !== content) return fail(`${content}\ninstead of\n${known[i]}`)
      equal[i] = sum
    } catch (error) {
      fail(`${error} ${body}`)
    }
  }
  return { found, fail, answer }
}

/** Sends a set's requests, some of them traced; resolves when the answer has arrived, correct or not. */
function sender({ set: name, port, connections }: Asked, traces = false) {
  const set = sets.get(name)!
  const { found, fail, answer } = createCheck(set)
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  const send = (number: number) =>
    new Promise<void>((resolve) => {
      const i = number % set.requests.length
      const { method, path, headers: own, body } = set.requests[i]!
      const headers = traces && isTraced(number) ? { ...own, traceparent: toTraceparent(number) } : own
      const call = sent({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          answer(i, response.statusCode, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
          resolve()
        })
      })
      call.on('error', (error) => {
        fail(String(error))
        resolve()
      })
      call.end(body)
    })
  return { send, found, close: () => agent.destroy() }
}

type Send = (number: number) => Promise<void>

async function closed(send: Send, connections: number, times: Float64Array) {
  let next = 0
  const connection = async () => {
    while (next < times.length) {
      const i = next++
      const from = performance.now()
      await send(i)
      times[i] = performance.now() - from
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
}

async function runClosed(load: ClosedLoad): Promise<Sent> {
  const { send, found, close } = sender(load)
  const times = new Float64Array(load.count)
  const start = performance.now()
  await closed(send, load.connections, times)
  const perSecond = (load.count * 1000) / (performance.now() - start)
  close()
  return { perSecond, p50: percentile(times, 0.5), p99: percentile(times, 0.99), ...found }
}

/** Sends at a fixed rate, whether or not earlier requests are answered. */
async function runOpen(load: OpenLoad): Promise<Opened> {
  const { send, found, close } = sender(load, load.traces)
  const count = Math.floor(load.perSecond * load.seconds)
  const [times, lateness] = [new Float64Array(count), new Float64Array(count)]
  // Counted, as V8 takes long to collect a list of all promises.
  let open = 0
  let answeredAll = () => {}
  const start = performance.now()
  const since = (i: number) => performance.now() - start - (i * 1000) / load.perSecond
  for (let i = 0; i < count; ) {
    for (; i < count && since(i) >= 0; i++) {
      const own = i
      lateness[own] = since(own)
      open++
      send(own).then(() => {
        times[own] = since(own)
        if (--open === 0) answeredAll()
      })
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  if (open > 0) await new Promise<void>((resolve) => (answeredAll = resolve))
  const perSecond = (count * 1000) / (performance.now() - start)
  close()
  const due = Array.from(times, (_, i) => performance.timeOrigin + start + (i * 1000) / load.perSecond)
  return { perSecond, due, times: [...times], lateness: [...lateness], ...found }
}

// Before PostgreSQL, which shares the core: the client should send in time. Only root may.
try {
  setPriority(constants.priority.PRIORITY_HIGH)
} catch {}

process.on('message', (message: ClosedLoad | OpenLoad | RequestSet | string) => {
  // The meter's.
  if (typeof message === 'string') return
  if ('requests' in message) {
    sets.set(message.name, message)
    right.delete(message.name)
    process.send!({})
  } else ('count' in message ? runClosed(message) : runOpen(message)).then((result) => process.send!(result))
})
// The meter leaves it to the work of the process to keep it running.
process.channel!.ref()
