import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import pino from 'pino'
import { Registry } from 'prom-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMailer } from '../../server/browser/login/mail.ts'
import { createLoginMethods } from '../../server/browser/login/methods.ts'
import { words } from '../../server/browser/words/words.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { readConfig } from '../../server/process/config.ts'
import { openMailer } from '../../server/process/mailer.ts'
import { parseSamples } from '../metrics/samples.ts'
import { migratedDatabase } from '../support/databases.ts'
import { startInProcess } from '../support/service-in-process.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { Browser } from './browser.ts'
import { anyAddress, codeWorld, FROM } from './code-world.ts'
import type { Mail } from './mail-server.ts'
import { startMailServer } from './mail-server.ts'
import { createMember } from './members.ts'
import { startSilent } from './silent.ts'

const { world, own } = codeWorld()

describe('the mail', () => {
  it('has the code in both texts, and not in its headers', async () => {
    const { mailServer } = world
    const { email, sent } = own
    const code = await sent()
    const [mail] = mailServer.mailsTo(email)
    expect(mail!.headers).toMatchObject({ from: FROM, to: email, subject: 'Your sign-in code for Member apps' })
    // RFC 3834: no out-of-office reply answers it.
    expect(mail!.headers['auto-submitted']).toBe('auto-generated')
    expect(mail!.raw.split('\r\n\r\n')[0]).not.toContain(code)
    expect(mail!.parts['text/plain']).toContain(`\r\n    ${code}\r\n`)
    expect(mail!.parts['text/html']).toMatch(new RegExp(`<html lang="en">[^]*>${code}<`))
    expect(mail!.parts['text/plain']).toContain('Nobody will ever ask you for this code')
    expect(mail!.raw).not.toMatch(/https?:/)
  })

  it('is in German on request', async () => {
    const { mailServer } = world
    const { email, interaction, sent } = own
    const code = await sent(interaction, 'de')
    const [mail] = mailServer.mailsTo(email)
    expect(mail!.headers.subject).toBe('Anmeldecode für Apps für Mitglieder')
    expect(mail!.parts['text/plain']).toContain('Er gehört in den Browser, in dem er angefordert wurde.')
    expect(mail!.parts['text/html']).toMatch(new RegExp(`<html lang="de">[^]*>${code}<[^]*gehört`))
  })

  it.each([
    ['en', 'Your sign-in code for Rudern & "Söhne" <1921>', 'This is your sign-in code for '],
    ['de', 'Anmeldecode für Rudern & "Söhne" <1921>', 'Das ist der Anmeldecode für '],
  ] as const)(
    'has the name of the operator in sender, subject and both texts, in %s',
    async (language, subject, lead) => {
      const { mailServer } = world
      const brand = 'Rudern & "Söhne" <1921>'
      const settings = { upstream: null, redirectUri: 'https://auth.test/v1/oauth/upstream', developmentLogin: false }
      const sendMail = createMailer(mailServer.url, 'no-reply@example.org', brand)
      const onError = (error: unknown) => expect.fail(String(error))
      const { codes } = await createLoginMethods(
        { ...settings, sendMail },
        { db: world.db, now: Date.now, onError, limits: memoryLimits(), brand },
      )
      const sender = { address: anyAddress(), browser: null }
      expect(await codes!.send(own.interaction, own.email, words[language], sender)).toBe('sent')
      const [code] = await mailServer.codesTo(own.email)
      const [{ headers, parts }] = mailServer.mailsTo(own.email) as [Mail]
      expect(headers).toMatchObject({ from: 'Rudern & "Söhne" <1921> <no-reply@example.org>', subject })
      expect(parts['text/plain']).toContain(`${lead}${brand}:\r\n\r\n    ${code}`)
      expect(parts['text/html']).toContain(`<p>${lead}Rudern &amp; &quot;Söhne&quot; &lt;1921&gt;:</p>`)
    },
  )

  it('is sent before a service ends that was asked to stop right after the request', async () => {
    const { mailServer } = world
    const settings = { SMTP_URL: mailServer.url, MAIL_FROM: FROM }
    const databaseUrl = await migratedDatabase()
    const db = openTestDatabase(databaseUrl)
    await createMember(db, { email: own.email })
    await db.$disconnect()
    const { config, publicPort, close } = await startInProcess(databaseUrl, { settings })
    const browser = new Browser(publicPort)
    const page = await browser.open(`${config.authBaseUrl}/oauth/connected`)
    const answer = await browser.submit(page, 'email', { email: own.email })
    expect(answer.text).toContain('name="code"')
    await close()
    expect(mailServer.mailsTo(own.email)).toHaveLength(1)
  })

  it.each([
    ['Example, Inc. <no-reply@example.org>', '"Example, Inc." <no-reply@example.org>'],
    ['"Example, Inc." <no-reply@example.org>', '"Example, Inc." <no-reply@example.org>'],
    ['<no-reply@example.org>', 'Clubs <no-reply@example.org>'],
    ['no-reply@example.org', 'Clubs <no-reply@example.org>'],
  ])('has the name that MAIL_FROM has, or else the operator’s: %s', async (from, sender) => {
    const { mailServer } = world
    await createMailer(mailServer.url, from, 'Clubs')({ to: own.email, subject: 's', text: 't', html: 'h' })
    expect(mailServer.mailsTo(own.email).map(({ headers }) => headers.from)).toEqual([sender])
  })

  it('gets no headers from a name with line breaks', async () => {
    const { mailServer } = world
    const brand = 'Clubs\r\nBcc: thief@example.org\r\n\r\nHello'
    const sendMail = createMailer(mailServer.url, 'no-reply@example.org', brand)
    expect(await world.startNode({ sendMail, brand }).send(own.interaction, own.email)).toBe('sent')
    await mailServer.codesTo(own.email)
    const [{ headers, to }] = mailServer.mailsTo(own.email) as [Mail]
    expect(to).toEqual([own.email])
    expect(headers).not.toHaveProperty('bcc')
    expect(headers.subject).toContain('Your sign-in code for Clubs')
  })

  it('goes to one address only, without injected headers', async () => {
    const { mailServer } = world
    const { node, email, interaction, sent } = own
    const before = mailServer.mails.length
    const attempts = [
      `${email}\r\nBcc: thief@example.org`,
      `${email}\nBcc: thief@example.org`,
      `${email},thief@example.org`,
      `${email};thief@example.org`,
      `${email} thief@example.org`,
      `Mia <${email}>`,
      `"${email}"@example.org`,
      `${email}\0`,
      `${email}\u2028x`,
      `${email}\ud800`,
      `${'a'.repeat(250)}@example.org`,
      email.replace('@', ''),
      `@${email}`,
      `${email}.`,
      '',
    ]
    for (const typed of attempts) expect(await node.send(interaction, typed)).toBe('emailInvalid')
    expect(await world.readRow(interaction)).toBeNull()
    await sent()
    expect(mailServer.mails).toHaveLength(before + 1)
    expect(mailServer.mails.at(-1)!.to).toEqual([email])
  })

  it('never sends a password in clear text', async () => {
    const { email } = own
    const logins: string[] = []
    const server = await startMailServer({
      disabledCommands: ['STARTTLS'],
      onAuth({ username }, _session, done) {
        logins.push(username!)
        done(null, { user: username })
      },
    })
    onTestFinished(server.close)
    const mail = { to: email, subject: 'A subject', text: 'A text', html: '<p>A text</p>' }
    // A name of this machine that isLoopback does not recognise.
    await expect(createMailer(`smtp://user:word@0.0.0.0:${server.port}`, FROM)(mail)).rejects.toThrow(/STARTTLS/)
    expect({ logins, mails: server.mails }).toEqual({ logins: [], mails: [] })
    await createMailer(`smtp://user:word@127.0.0.1:${server.port}`, FROM)(mail)
    expect({ logins, mails: server.mails }).toMatchObject({ logins: ['user'], mails: [{ to: [email] }] })
  })
})

describe('a mail server', () => {
  /** The error that a node reports with this mail server. */
  async function reported(url: string) {
    const { interaction, email } = own
    const alone = world.startNode({ sendMail: createMailer(url, FROM) })
    expect(await alone.send(interaction, email)).toBe('sent')
    await expect.poll(() => alone.errors).toHaveLength(1)
    const { stack, cause } = alone.errors[0] as Error
    expect(cause).toBeUndefined()
    expect(stack).not.toMatch(/\d{8}/)
    expect(stack).not.toContain(email)
    return (alone.errors[0] as Error).message
  }

  it('that is down changes no response', async () => {
    const server = await startMailServer()
    await server.close()
    expect(await reported(server.url)).toMatch(/^a mail could not be sent: .*ECONNREFUSED/)
  })

  it('that quotes the mail when it refuses it does not put the code into the log', async () => {
    const server = await startMailServer({
      onData(stream, { envelope }, done) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk) => chunks.push(chunk))
        stream.on('end', () => {
          const [code] = /^ {4}\d{8}/m.exec(Buffer.concat(chunks).toString())!
          done(Object.assign(new Error(`${envelope.rcptTo[0]!.address}: ${code}`), { responseCode: 554 }))
        })
      },
    })
    onTestFinished(server.close)
    expect(await reported(server.url)).toBe('a mail could not be sent: the server replied 554 to DATA (EMESSAGE)')
  })

  it('that does not respond times out', async () => {
    expect(await reported(`smtp://127.0.0.1:${await startSilent()}`)).toMatch(/ETIMEDOUT/)
  })
})

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
      const samples = parseSamples(await registry.metrics())
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
