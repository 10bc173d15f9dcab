import type { OutgoingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { query } from '../../support/databases.ts'

export interface Ask {
  method: string
  path: string
  headers?: OutgoingHttpHeaders
  body?: string
}

export interface Outcome {
  ask: Ask
  /** 0 when there was no response. */
  status: number
  text: string
  headers: Record<string, string | string[] | undefined>
  /** The code of an error without a response: `ECONNRESET`, … */
  code?: string
  /** Whether the request went over a connection that had had one before. */
  reused: boolean
  ms: number
  /** Since the traffic began. */
  endMs: number
}

/** Between a client's response and its next request: without one, refused clients keep the machine busy. */
const PAUSE_MS = 75

interface Options {
  port: number
  clients: number
  /** The `n`th request of a client. */
  ask: (client: number, n: number) => Ask
}

/** Clients that keep their connections, each with one request after the other until `stop`, which resolves to all answers. */
export function startTraffic({ port, clients, ask }: Options) {
  const began = performance.now()
  const outcomes: Outcome[] = []
  let ended = false
  const client = async (number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; !ended; n++) {
      outcomes.push(await send(agent, port, ask(number, n), began))
      await pause(PAUSE_MS)
    }
    agent.destroy()
  }
  const all = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return {
    outcomes,
    nowMs: () => performance.now() - began,
    async stop() {
      ended = true
      await all
      return outcomes
    },
  }
}

/** Requests of a client: every other one writes, each to a key of its own. */
export const halfWrites = (headers: OutgoingHttpHeaders) => (client: number, n: number) =>
  n % 2 === 0
    ? { method: 'GET', path: '/v1/me/profile', headers }
    : { method: 'PUT', path: `/v1/storage/load/c${client}-${n}`, headers, body: `{"value":${n}}` }

/** The acknowledged ones of these writes that are not stored. */
export async function lostWrites(databaseUrl: string, outcomes: readonly Outcome[]) {
  const rows = await query(databaseUrl, `SELECT key, value FROM "StorageEntry" WHERE collection = 'load'`)
  const stored = new Map(rows.map(({ key, value }) => [`/v1/storage/load/${key}`, `{"value":${value}}`]))
  const written = outcomes.filter(({ ask, status }) => ask.method === 'PUT' && status === 200)
  expect(written.length).toBeGreaterThan(0)
  return written.filter(({ ask }) => stored.get(ask.path) !== ask.body)
}

/** Numbers of answers by status, of failures by code. */
export function tally(outcomes: readonly Outcome[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, code } of outcomes) counts[code ?? status] = (counts[code ?? status] ?? 0) + 1
  return counts
}

function send(agent: Agent, port: number, ask: Ask, began: number): Promise<Outcome> {
  const start = performance.now()
  const { method, path, headers, body } = ask
  const length = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }
  return new Promise((resolve) => {
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers: { ...length, ...headers } })
    const end = (rest: Pick<Outcome, 'status' | 'text' | 'headers' | 'code'>) => {
      const now = performance.now()
      resolve({ ask, reused: sent.reusedSocket, ms: now - start, endMs: now - began, ...rest })
    }
    const fail = (error: NodeJS.ErrnoException) =>
      end({ status: 0, text: '', headers: {}, code: error.code ?? error.message })
    sent.on('error', fail).on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      response.on('error', fail)
      response.on('end', () => end({ status: response.statusCode!, text, headers: response.headers }))
    })
    sent.end(body)
  })
}
