import { writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { afterAll, afterEach, expect } from 'vitest'
import type { Limits } from '../../../server/limits/limit.ts'
import { noteFigure } from '../noted-figure.ts'
import { shapes } from './costly-shapes.ts'

/** CPU time beyond that of an ordinary input of the same length. */
const MAX_MS = 20
const SEEMS_DEAR_MS = 5
const ROUNDS = 10
/** Node refuses heads of more than 16 KiB. */
export const IN_HEAD = 15_000
export const IN_BODY = 16_384

export interface Input {
  method?: string
  host?: string
  port: number
  path: string
  headers?: Record<string, string>
  body?: string
}

/** Refuse nothing: a request that is refused for its number hides what it would have cost. */
export const noLimits: Limits = {
  open: (_name, points, windowSeconds) => ({
    take: () => ({ passes: true, remaining: points, msBeforeNext: windowSeconds * 1_000 }),
    giveBack: () => {},
  }),
  store: () => 'memory',
  failures: () => 0,
  close: async () => {},
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Status of the answer; undefined where the request is no HTTP, and its connection closed. */
const ask = ({ method = 'GET', host = 'apps.test', port, path, headers, body }: Input) =>
  new Promise<number | undefined>((resolve) => {
    const length = body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers: { host, ...length, ...headers } })
    sent.on('response', (response) => {
      const end = () => resolve(response.statusCode)
      response.resume().on('end', end).on('error', end)
    })
    sent.on('error', () => resolve(undefined))
    sent.end(body)
  })

const tried = { inputs: 0, dearest: [] as { ms: number; what: string }[] }

afterAll(() => {
  agent.destroy()
  const file = expect.getState().testPath?.replace(/^.*\/|\.test\.ts$/g, '')
  const [dearest] = tried.dearest
  noteFigure({
    name: `the dearest of the ${file}, beyond an ordinary one`,
    value: dearest?.ms ?? 0,
    unit: 'ms',
    bound: MAX_MS,
  })
  if (process.env.COSTLY) writeFileSync(process.env.COSTLY, JSON.stringify(tried, null, 1))
})

/**
 * CPU time of this process, which is the service's and the client's: busy neighbours do not count, and the client's is the same
 * for all.
 */
async function cpuMs(input: Input): Promise<number> {
  const before = process.cpuUsage()
  const status = await ask(input)
  const { user, system } = process.cpuUsage(before)
  if (status === 429 || status === 503) throw new Error(`${status}: ${input.method} ${input.path.slice(0, 80)}`)
  return (user + system) / 1_000
}

type BuildInput = (text: string) => Input | undefined

const found: string[] = []
afterEach(() => expect(found.splice(0)).toEqual([]))

/**
 * Fails the test, at its end, with the inputs that cost more than 20 ms beyond an ordinary text. One that seems dear is tried
 * again, beside the ordinary one and no two times alike for the sake of caches, until it is not: what a garbage collection costs
 * is not the input's.
 */
export async function expectCheap(what: string, buildInput: BuildInput, length: number, made = shapes): Promise<void> {
  const plain = buildInput('a'.repeat(length))
  if (!plain) return
  let ordinary = Math.min(await cpuMs(plain), await cpuMs(plain))
  for (const [name, makeText] of Object.entries(made)) {
    const input = (round: number) => buildInput(makeText(length - 8 * round))
    const first = input(0)
    if (!first) continue
    tried.inputs++
    let least = await cpuMs(first)
    for (let round = 1; round < ROUNDS && least - ordinary > SEEMS_DEAR_MS; round++) {
      least = Math.min(least, await cpuMs(input(round)!))
      ordinary = Math.min(ordinary, await cpuMs(plain))
    }
    const beyond = least - ordinary
    note(beyond, `${what}: ${name}`)
    if (beyond > MAX_MS) found.push(`${what}: ${name}: ${beyond.toFixed(0)} ms`)
  }
}

function note(ms: number, what: string) {
  const { dearest } = tried
  dearest.push({ ms: Math.round(ms * 10) / 10, what })
  dearest.sort((one, other) => other.ms - one.ms).splice(10)
}

/** Halves of characters, which UTF-8 does not have, become U+FFFD. */
const wellFormed = (text: string) => Buffer.from(text).toString()

/** A parameter's value with as few escapes as HTTP takes, in at most `length` bytes. */
export const encoded = (text: string, length: number) =>
  wellFormed(text)
    .replace(/[^\x21-\x7e]|[%&+#]/gu, encodeURIComponent)
    .slice(0, length)
    .replace(/%.?$/, '')

export const withParameter = (path: string, name: string, text: string, length = IN_HEAD - path.length) =>
  `${path}${path.includes('?') ? '&' : '?'}${name}=${encoded(text, length)}`

/** A path or query as it is, but for what Node refuses to send. */
export const asPath = (text: string) =>
  text.replace(/[^\x21-\x7e]/gu, (one) => encodeURIComponent(wellFormed(one))).slice(0, IN_HEAD)

/** As bytes of UTF-8, which Node takes for Latin-1; undefined of what it refuses to send. */
export function findHeader(text: string): string | undefined {
  const bytes = Buffer.from(text).subarray(0, IN_HEAD).toString('latin1')
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(bytes) ? bytes : undefined
}
