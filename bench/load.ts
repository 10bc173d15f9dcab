import { Agent, request as sent } from 'node:http'
import type { Form } from './content.ts'
import { contentOf } from './content.ts'
import { percentile } from './figures.ts'
import type { Closed, Load, Open, RequestSet, Sent } from './load-process.ts'
import { openLoop } from './schedule.ts'

/** Sends requests and checks every answer, in a process of its own. */

const sets = new Map<string, RequestSet>()

/** Of all sets of one agreement: what the first answer to each request said. */
const said = new Map<string, string[]>()
/** The last right answer, byte for byte: an equal one needs no reading. */
const right = new Map<string, (Buffer | undefined)[]>()

const SUCCESS: (number | undefined)[] = [200, 201, 204]

class Check {
  wrong = 0
  sample = ''
  readonly #said: string[]
  readonly #right: (Buffer | undefined)[]
  readonly #form: Form
  readonly #masked: readonly string[]

  constructor(name: string, { agreement, form, masked }: RequestSet) {
    this.#form = form
    this.#masked = masked
    this.#said = said.get(agreement) ?? []
    said.set(agreement, this.#said)
    this.#right = right.get(name) ?? []
    right.set(name, this.#right)
  }

  /** The answers to a request have to say the same, whichever server they come from. */
  answer(i: number, status: number | undefined, body: Buffer) {
    if (!SUCCESS.includes(status)) return this.fail(`${status} ${body}`)
    if (this.#right[i]?.equals(body)) return
    try {
      const content = contentOf(body.toString(), this.#form, this.#masked)
      this.#said[i] ??= content
      if (this.#said[i] !== content) return this.fail(`${content}\ninstead of\n${this.#said[i]}`)
      this.#right[i] = body
    } catch (error) {
      this.fail(`${error} ${body}`)
    }
  }

  fail(what: string) {
    this.wrong++
    this.sample ||= what.slice(0, 2_000)
  }
}

/** A sender of the requests of a set; resolves when the answer is there, right or wrong. */
function sender(name: string, port: number, connections: number) {
  const set = sets.get(name)!
  const check = new Check(name, set)
  const agent = new Agent({ keepAlive: true, maxSockets: connections, scheduling: 'fifo' })
  const send = (number: number) =>
    new Promise<void>((resolve) => {
      const i = number % set.requests.length
      const { method, path, headers, body } = set.requests[i]!
      const call = sent({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          check.answer(i, response.statusCode, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
          resolve()
        })
      })
      call.on('error', (error) => {
        check.fail(String(error))
        resolve()
      })
      call.end(body)
    })
  return { send, check, close: () => agent.destroy() }
}

/** Keeps `connections` requests in flight until `count` are sent. */
async function closed({ set, port, connections, count }: Closed): Promise<Sent> {
  const { send, check, close } = sender(set, port, connections)
  const times = new Float64Array(count)
  let next = 0
  const start = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < count) {
        const i = next++
        const from = performance.now()
        await send(i)
        times[i] = performance.now() - from
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  close()
  return { ...figuresOf(times, seconds), late: 0, wrong: check.wrong, sample: check.sample }
}

/** Sends at a fixed rate, whether or not earlier requests are answered. A time runs from when the request was due. */
async function open({ set, port, connections, perSecond, seconds }: Open): Promise<Sent> {
  const { send, check, close } = sender(set, port, connections)
  const schedule = openLoop(perSecond, seconds)
  const times = new Float64Array(schedule.count)
  const lateness = new Float64Array(schedule.count)
  const answered: Promise<void>[] = []
  const start = performance.now()
  await new Promise<void>((resolve) => {
    const tick = () => {
      const now = performance.now() - start
      for (const i of schedule.due(now)) {
        lateness[i] = now - schedule.at(i)
        answered.push(
          send(i).then(() => {
            times[i] = performance.now() - start - schedule.at(i)
          }),
        )
      }
      if (schedule.isOver()) resolve()
      else setTimeout(tick, 1)
    }
    tick()
  })
  await Promise.all(answered)
  const took = (performance.now() - start) / 1000
  close()
  return { ...figuresOf(times, took), late: percentile(lateness, 0.99), wrong: check.wrong, sample: check.sample }
}

const figuresOf = (times: Float64Array, seconds: number) => ({
  perSecond: times.length / seconds,
  p50: percentile(times, 0.5),
  p99: percentile(times, 0.99),
})

process.on('message', (load: Load) => {
  if ('requests' in load) {
    sets.set(load.name, load)
    right.delete(load.name)
    process.send!({})
    return
  }
  const work = 'perSecond' in load ? open(load) : closed(load)
  work.then((result) => process.send!(result))
})
