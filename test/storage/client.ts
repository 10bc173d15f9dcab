import type { Agent, IncomingHttpHeaders } from 'node:http'
import { request as httpRequest } from 'node:http'

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

interface Options {
  agent: Agent
  headers?: Record<string, string>
  body?: string | undefined
  /** Disconnects once the request is sent. */
  leaves?: boolean
}

/** Sends a request to the apps section; resolves to undefined if the client disconnected. */
export function request(
  port: number,
  method: string,
  path: string,
  token: string,
  { agent, headers, body, leaves }: Options,
): Promise<Reply | undefined> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      host: '127.0.0.1',
      port,
      agent,
      method,
      path: `/v1${path}`,
      headers: {
        host: 'apps.localhost',
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
    })
    sent.on('error', (error) => (leaves ? resolve(undefined) : reject(error)))
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      )
    })
    if (leaves) sent.on('finish', () => setImmediate(() => sent.destroy()))
    sent.end(body)
  })
}
