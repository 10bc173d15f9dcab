import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import pino from 'pino'
import { Registry } from 'prom-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../server/process/config.ts'
import { openMailer } from '../../server/process/mailer.ts'
import { samplesOf } from '../metrics/samples.ts'
import { startMailServer } from './mail-server.ts'

const mail = { to: 'mia@example.org', subject: 'A subject', text: 'A text', html: '<p>A text</p>' }

/** What sends the service's mails over this server, its warnings, and its metric by outcome. */
async function mailer(SMTP_URL: string, more: Record<string, string> = {}) {
  const registry = new Registry()
  const lines: string[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
  const config = readConfig({ SMTP_URL, MAIL_FROM: 'apps@example.org', ...more })
  return {
    send: await openMailer(config, registry, log),
    warnings: () => lines.map((line) => JSON.parse(line).msg),
    async counts() {
      const samples = samplesOf(await registry.metrics())
      return ['sent', 'refused', 'failed'].map((outcome) => samples.get(`mails_total{outcome="${outcome}"}`))
    },
  }
}

/** A mail server that greets once it may, and the connections that it has got. */
async function reserved() {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket
      .on('error', () => {})
      .on('data', (data) => socket.write(/^QUIT/.test(String(data)) ? '221 bye\r\n' : '250 ok\r\n'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

describe('the mail server of SMTP_URL', () => {
  it('is asked once at the start, which does not wait for its answer', async () => {
    const { url, sockets } = await reserved()
    const { warnings, counts } = await mailer(url)
    await expect.poll(() => sockets.length).toBe(1)
    const closed = once(sockets[0]!, 'close')
    sockets[0]!.write('220 ready\r\n')
    await closed
    expect([warnings(), sockets.length, await counts()]).toEqual([[], 1, [0, 0, 0]])
  })

  it('is named in a warning when it cannot be reached, or refuses the password', async () => {
    const gone = await startMailServer()
    await gone.close()
    const unreachable = await mailer(gone.url)
    await expect
      .poll(unreachable.warnings)
      .toEqual([expect.stringMatching(/^the mail server of SMTP_URL cannot be used: .*ECONNREFUSED/)])
    const strict = await startMailServer({ onAuth: (_auth, _session, done) => done(new Error('canary')) })
    onTestFinished(strict.close)
    const refusing = await mailer(strict.url.replace('//', '//user:canary@'))
    await expect
      .poll(refusing.warnings)
      .toEqual([expect.stringMatching(/^the mail server of SMTP_URL cannot be used: the server replied 535 to AUTH/)])
    expect(JSON.stringify(refusing.warnings())).not.toContain('canary')
  })

  it('is not asked where TOKEN_ISSUER signs members in, or without SMTP_URL', async () => {
    const { url, sockets } = await reserved()
    const elsewhere = await mailer(url, { TOKEN_ISSUER: 'https://id.example.org' })
    expect([elsewhere.send, sockets]).toEqual([undefined, []])
    expect(await elsewhere.counts()).toEqual([0, 0, 0])
    const none = await mailer('', { MAIL_FROM: '' })
    expect([none.send, await none.counts()]).toEqual([undefined, [0, 0, 0]])
  })
})

describe('mails_total', () => {
  it('counts mails that are sent, of which the recipient is refused, and that fail', async () => {
    const refusals: [string, number][] = []
    const refusal = (command: string) => {
      const code = refusals[0]?.[0] === command ? refusals.shift()![1] : undefined
      return code === undefined ? null : Object.assign(new Error('no'), { responseCode: code })
    }
    const server = await startMailServer({
      onMailFrom: (_from, _session, done) => done(refusal('MAIL FROM')),
      onRcptTo: (_to, _session, done) => done(refusal('RCPT TO')),
      onData(stream, _session, done) {
        stream.resume().on('end', () => done(refusal('DATA')))
      },
    })
    const { send, counts } = await mailer(server.url)
    const sendRefused = async (command: string, code: number) => {
      refusals.push([command, code])
      await expect(send!(mail)).rejects.toThrow(`the server replied ${code} to ${command}`)
      expect(refusals).toEqual([])
      return counts()
    }
    await send!(mail)
    expect(await counts()).toEqual([1, 0, 0])
    expect(await sendRefused('RCPT TO', 550)).toEqual([1, 1, 0])
    expect(await sendRefused('RCPT TO', 450)).toEqual([1, 1, 1])
    // A server that refuses all mails of this sender, or their content, delivers none.
    expect(await sendRefused('MAIL FROM', 550)).toEqual([1, 1, 2])
    expect(await sendRefused('DATA', 554)).toEqual([1, 1, 3])
    await server.close()
    await expect(send!(mail)).rejects.toThrow('ECONNREFUSED')
    expect(await counts()).toEqual([1, 1, 4])
  })
})
