import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:http'
import type { Section } from '../../routers/kernel/scopes.ts'

const agent = new Agent({ keepAlive: true })

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as it came. */
  bytes?: Buffer
  /** Parsed JSON; undefined when there is no body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
  body: any
}

export interface Call {
  /** Default: the section that the path belongs to. It gives the Host and the token's organisation. */
  api?: Section
  claims?: Record<string, unknown>
  /** Null: no Authorization header. */
  token?: string | null
  headers?: Record<string, string | string[]>
  host?: string
  /** The test has changed what answers: it is not compared with the documents. */
  undocumented?: true
  /** Text and bytes are sent as they are, everything else as JSON. */
  body?: unknown
}

export function send(port: number, method: string, path: string, { headers, body }: Call): Promise<Reply> {
  const content =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const type =
    content === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }
  return new Promise((resolve, reject) => {
    const sent = request(
      { port, host: '127.0.0.1', method, path, agent, headers: { ...type, ...headers } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const text = bytes.toString('utf8')
          resolve({ status: response.statusCode!, headers: response.headers, text, bytes, body: parse(text) })
        })
      },
    )
    sent.on('error', reject)
    sent.end(content)
  })
}

function parse(text: string) {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
