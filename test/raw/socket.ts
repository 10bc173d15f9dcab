import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'

/** One complete response. */
export interface Answer {
  status: number
  /** Names in lower case; values of repeated headers are joined. */
  headers: Record<string, string>
  bytes: Buffer
  text: string
}

/** How the peer ended the connection: `end` is a FIN, `reset` an RST. */
type Ending = 'end' | 'reset'

const HEAD_END = '\r\n\r\n'

/** A TCP connection that sends exactly the given bytes and reads complete responses. */
export class Connection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
  #chunks: Buffer[] = []
  #ending: Ending | undefined
  #wake = () => {}
  readonly ended: Promise<Ending>

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (chunk) => {
      this.#chunks.push(chunk)
      this.#wake()
    })
    this.ended = new Promise((resolve) => {
      const end = (ending: Ending) => {
        this.#ending ??= ending
        this.#wake()
        resolve(this.#ending)
      }
      socket.on('end', () => end('end'))
      socket.on('error', () => end('reset'))
      socket.on('close', () => end('end'))
    })
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }, () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
      socket.once('error', reject)
    })
  }

  /** Strings are sent as latin1, one byte a character. Rejects when the peer does not accept it. */
  send(content: string | Buffer): Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'latin1') : content
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(error) : resolve()))
    })
  }

  /** The next complete response; to HEAD it has no body. */
  async answer(method = 'GET'): Promise<Answer> {
    for (;;) {
      const answer = this.#take(method)
      if (answer) return answer
      if (this.#ending)
        throw new Error(`The connection ended (${this.#ending}) after: ${this.#received.toString('latin1')}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  get isEnded(): boolean {
    return this.#ending !== undefined
  }

  /** Bytes received after the responses that were read. */
  get rest(): string {
    return Buffer.concat([this.#received, ...this.#chunks]).toString('latin1')
  }

  /** Sends a FIN. */
  end() {
    this.#socket.end()
  }

  /** Sends every `pauseMs` until the peer stops accepting; returns the number of bytes. */
  async sendUntilCut(content: string | Buffer, pauseMs = 0): Promise<number> {
    const before = this.#socket.bytesWritten
    try {
      for (;;) {
        await this.send(content)
        await (pauseMs > 0 ? sleep(pauseMs) : setImmediate())
      }
    } catch {}
    return this.#socket.bytesWritten - before
  }

  /** Sends an RST. */
  reset() {
    this.#socket.resetAndDestroy()
  }

  #take(method: string): Answer | undefined {
    if (this.#chunks.length > 0) this.#received = Buffer.concat([this.#received, ...this.#chunks.splice(0)])
    const cut = this.#received.indexOf(HEAD_END)
    if (cut < 0) return undefined
    const [first = '', ...lines] = this.#received.toString('latin1', 0, cut).split('\r\n')
    const [, code] = /^HTTP\/1\.1 (\d{3}) /.exec(first) ?? []
    if (!code) throw new Error(`Not an HTTP response: ${first}`)
    const status = Number(code)
    const headers: Record<string, string> = {}
    for (const line of lines) {
      const [, name, value] = /^([^:]+): ?(.*)$/s.exec(line)!
      const key = name!.toLowerCase()
      headers[key] = key in headers ? `${headers[key]}, ${value}` : value!
    }
    const body = this.#body(method, status, headers, cut + HEAD_END.length)
    if (!body) return undefined
    this.#received = this.#received.subarray(body.end)
    return { status, headers, bytes: body.bytes, text: body.bytes.toString('utf8') }
  }

  #body(method: string, status: number, headers: Record<string, string>, start: number) {
    const received = this.#received
    if (method === 'HEAD' || status < 200 || status === 204 || status === 304)
      return { bytes: Buffer.alloc(0), end: start }
    if (headers['transfer-encoding'] === 'chunked') return dechunk(received, start)
    if (headers['content-length'] === undefined) {
      return this.#ending ? { bytes: received.subarray(start), end: received.length } : undefined
    }
    const end = start + Number(headers['content-length'])
    return received.length < end ? undefined : { bytes: received.subarray(start, end), end }
  }
}

function dechunk(received: Buffer, start: number) {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const line = received.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(received.toString('latin1', at, line), 16)
    at = line + 2
    if (received.length < at + size + 2) return undefined
    chunks.push(received.subarray(at, at + size))
    at += size + 2
    if (size === 0) return { bytes: Buffer.concat(chunks), end: at }
  }
}
