import type { AddressInfo } from 'node:net'
import type { SMTPServerOptions } from 'smtp-server'
import { SMTPServer } from 'smtp-server'
import { expect } from 'vitest'

export interface Mail {
  to: string[]
  headers: Record<string, string>
  /** The decoded parts, by their type. */
  parts: Record<string, string>
  raw: string
}

/** A real mail server on loopback, and the mails it has received. */
export async function startMailServer(options: SMTPServerOptions = {}) {
  const mails: Mail[] = []
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', () => {
        const to = envelope.rcptTo.map(({ address }) => address)
        mails.push({ to, ...parse(Buffer.concat(chunks).toString('utf8')) })
        done()
      })
    },
    ...options,
  })
  // Clients that disconnect are expected.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo

  const mailsTo = (email: string) => mails.filter(({ to }) => to.includes(email))
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    mails,
    mailsTo,
    /** The codes sent to an address, once there are `count` of them. */
    async codesTo(email: string, count = 1): Promise<string[]> {
      await expect.poll(() => mailsTo(email).length, { interval: 5 }).toBeGreaterThanOrEqual(count)
      return mailsTo(email).map(({ parts }) => /\d{8}/.exec(parts['text/plain']!)![0])
    },
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

/** Parses the MIME that nodemailer writes: folded headers, and parts one level deep. */
function parse(raw: string): Omit<Mail, 'to'> {
  const { headers, content } = split(raw)
  const [, boundary] = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '') ?? []
  const texts = boundary === undefined ? [raw] : content.split(`--${boundary}`).slice(1, -1)
  const parts = texts.map((text) => split(text.replace(/^\r\n/, '')))
  return {
    raw,
    headers,
    parts: Object.fromEntries(parts.map((part) => [part.headers['content-type']!.split(';')[0]!, decode(part)])),
  }
}

function split(text: string) {
  const [head, ...rest] = text.split('\r\n\r\n')
  const lines = head!.replace(/\r\n[ \t]+/g, ' ').split('\r\n')
  const headers = lines
    .map((line) => /^([^:]+): ?(.*)$/s.exec(line)!)
    .map(([, name, value]) => [name!.toLowerCase(), decodeWords(value!)])
  return { headers: Object.fromEntries(headers) as Record<string, string>, content: rest.join('\r\n\r\n') }
}

function decode({ headers, content }: ReturnType<typeof split>): string {
  const encoding = headers['content-transfer-encoding']
  if (encoding === 'base64') return Buffer.from(content, 'base64').toString('utf8')
  if (encoding !== 'quoted-printable') return content
  const bytes = content
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** RFC 2047: `=?utf-8?Q?f=C3=BCr?=`. */
const decodeWords = (text: string): string =>
  text
    .replace(/(?<=\?=)\s+(?==\?)/g, '')
    .replace(/=\?utf-8\?([QB])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      decode(
        kind.toUpperCase() === 'B'
          ? { headers: { 'content-transfer-encoding': 'base64' }, content: word }
          : { headers: { 'content-transfer-encoding': 'quoted-printable' }, content: word.replaceAll('_', ' ') },
      ),
    )
