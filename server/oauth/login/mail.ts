import { createTransport } from 'nodemailer'
import { isLoopback } from '../../tokens/loopback.ts'

export type SendMail = (mail: { to: string; subject: string; text: string; html: string }) => Promise<void>

const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 }

/** Sends each mail over a connection of its own to the server at an smtp:// or smtps:// URL; throws if it cannot. */
export function createMailer(smtpUrl: string, from: string): SendMail {
  const { username, hostname } = new URL(smtpUrl)
  const transport = createTransport({
    url: smtpUrl,
    ...TIMEOUTS,
    // Never sends a password in clear text, even if an attacker removes STARTTLS from the server's greeting.
    requireTLS: username !== '' && !isLoopback(hostname),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return async ({ to, ...content }) => {
    await transport
      .sendMail({
        from,
        // An object is never parsed as a list of addresses.
        to: { name: '', address: to },
        headers: { 'Auto-Submitted': 'auto-generated' },
        ...content,
      })
      .catch((error) => {
        throw new Error(`a mail could not be sent: ${reasonOf(error)}`)
      })
  }
}

interface SmtpError extends Error {
  code?: string
  command?: string
  response?: string
  responseCode?: number
}

/** Of a server's reply only its number: the text may repeat the address, or the mail, which contains the code. */
function reasonOf({ code, command, response, responseCode, message }: SmtpError): string {
  const detail = response === undefined ? message : `the server replied ${responseCode} to ${command}`
  return code === undefined ? detail : `${detail} (${code})`
}
