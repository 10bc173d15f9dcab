import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import { envelope } from '../../rest-facade/envelope.ts'
import { toFailure } from '../../routers/kernel/database-errors.ts'
import type { ApiError } from '../../routers/kernel/errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { dropBody } from './drain.ts'
import { isInternalHost } from './host-name.ts'
import type { Listener } from './listen.ts'
import { listen } from './listen.ts'
import { JSON_TYPE } from './send.ts'

interface Parts {
  registry: Registry
  names: readonly string[]
  alive: () => boolean
  /** Whether the database responds and the worker is not shutting down. */
  ready: () => Promise<boolean>
}

/** A worker's port is like the service's internal port, but without koa, which no worker loads. Throws if it is taken. */
export const listenForWatchers = (port: number, host: string, parts: Parts): Promise<Listener> =>
  listen({ callback: () => answering(parts) }, port, { setting: 'WORKER_PORT', host })

function answering({ registry, names, alive, ready }: Parts): RequestListener {
  const health = (isWell: boolean, status: string): Answer => {
    if (!isWell) throw errors.unavailable()
    return { status: 200, type: JSON_TYPE, body: JSON.stringify({ status }) }
  }
  const answers: Record<string, () => Promise<Answer>> = {
    '/healthz': async () => health(alive(), 'ok'),
    '/readyz': async () => health(await ready(), 'ready'),
    '/metrics': async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() }),
  }
  const answer = (request: IncomingMessage) => {
    const path = request.url!.replace(/\?.*$/s, '')
    if (!Object.hasOwn(answers, path)) throw errors.addressUnknown()
    if (path === '/metrics' && !isInternalHost(request.headers.host, names)) throw errors.addressUnknown()
    if (request.method !== 'GET' && request.method !== 'HEAD') throw errors.methodWrong('GET, HEAD')
    return answers[path]!()
  }
  return async (request, response) => {
    await dropBody(request, response)
    try {
      send(request, response, await answer(request))
    } catch (thrown) {
      send(request, response, refusal(toFailure(thrown)))
    }
  }
}

interface Answer {
  status: number
  type: string
  body: string
  headers?: Record<string, string>
}

function refusal(error: ApiError): Answer {
  const { status, headers } = error
  return { status, headers, type: JSON_TYPE, body: JSON.stringify(envelope(error, null, randomUUID())) }
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, type, body, headers }: Answer) {
  const length = Buffer.byteLength(body)
  response.writeHead(status, {
    ...headers,
    'Content-Type': type,
    'Content-Length': length,
    'Cache-Control': 'no-store',
  })
  response.end(method === 'HEAD' ? undefined : body)
}
