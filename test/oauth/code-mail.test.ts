import { describe, expect, it, onTestFinished } from 'vitest'
import { createMailer } from '../../server/browser/login/mail.ts'
import { createLoginMethods } from '../../server/browser/login/methods.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { anyAddress, codeWorld, FROM } from './code-world.ts'
import type { Mail } from './mail-server.ts'
import { startMailServer } from './mail-server.ts'
import { startSilent } from './silent.ts'

const { world, own } = codeWorld()

describe('the mail', () => {
  it('has the code in both texts, and not in its headers', async () => {
    const { mailServer } = world
    const { email, sent } = own
    const code = await sent()
    const [mail] = mailServer.mailsTo(email)
    expect(mail!.headers).toMatchObject({ from: FROM, to: email, subject: 'Your sign-in code' })
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
    expect(mail!.headers.subject).toBe('Anmeldecode')
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
      expect(await codes!.send(own.interaction, own.email, language, sender)).toBe('sent')
      const [code] = await mailServer.codesTo(own.email)
      const [{ headers, parts }] = mailServer.mailsTo(own.email) as [Mail]
      expect(headers).toMatchObject({ from: 'Rudern & "Söhne" <1921> <no-reply@example.org>', subject })
      expect(parts['text/plain']).toContain(`${lead}${brand}:\r\n\r\n    ${code}`)
      expect(parts['text/html']).toContain(`<p>${lead}Rudern &amp; &quot;Söhne&quot; &lt;1921&gt;:</p>`)
    },
  )

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
    expect(await world.rowOf(interaction)).toBeNull()
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
