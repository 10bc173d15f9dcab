import { createTransport } from 'nodemailer'
import { isLoopback } from '../../tokens/loopback.ts'

export type SendMail = (mail: { to: string; subject: string; text: string; html: string }) => Promise<void>

/** A mail server that hangs is given up after seconds. */
const TIMES = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 }

/** Sends mails through the server at an smtp:// or smtps:// address, each over a connection of its own. */
export function createMailer(smtpUrl: string, from: string): SendMail {
  const { username, hostname } = new URL(smtpUrl)
  const transport = createTransport({
    url: smtpUrl,
    ...TIMES,
    // A password does not cross a network in the clear, whatever somebody on the way makes of the server's greeting.
    requireTLS: username !== '' && !isLoopback(hostname),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return async ({ to, ...content }) => {
    await transport
      .sendMail({
        from,
        // As an object it is one address, and never parsed as a list of them.
        to: { name: '', address: to },
        headers: { 'Auto-Submitted': 'auto-generated' },
        ...content,
      })
      .catch((error) => {
        throw new Error(`A mail was not sent: ${reasonOf(error)}`)
      })
  }
}

interface SmtpError extends Error {
  code?: string
  command?: string
  response?: string
  responseCode?: number
}

/** Of what the server answered only the number: its text may repeat the subject, where the code is, or the address. */
function reasonOf({ code, command, response, responseCode, message }: SmtpError): string {
  const detail = response === undefined ? message : `the server answered ${responseCode} to ${command}`
  return code === undefined ? detail : `${detail} (${code})`
}
