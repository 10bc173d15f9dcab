import { createTransport } from 'nodemailer'
import { isLoopback } from '../../tokens/loopback.ts'

interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The same for each attempt to send the mail. */
  id?: string
}

/** Throws MailFailure. */
export type SendMail = (mail: Mail) => Promise<void>

export class MailFailure extends Error {
  /** What the server has refused, and will refuse again; null if it may accept the mail later. */
  readonly refused: 'recipient' | 'mail' | null
  constructor(message: string, refused: MailFailure['refused']) {
    super(message)
    this.refused = refused
  }
}

const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 10_000 }

/**
 * Sends each mail over a new connection to the server at an smtp:// or smtps:// URL. `from` is an address,
 * or a name and `<an address>`; without a name, the operator's name is used.
 */
export function createMailer(smtpUrl: string, from: string, brand?: string | undefined): SendMail {
  const sender = formatSender(from, brand)
  const transport = transportTo(smtpUrl)
  return async ({ to, id, ...content }) => {
    await transport
      .sendMail({
        // An object is never parsed as a list of addresses.
        from: sender,
        to: { name: '', address: to },
        headers: { 'Auto-Submitted': 'auto-generated' },
        ...(id !== undefined && { messageId: `<${id}@${sender.address.split('@').at(-1)}>` }),
        ...content,
      })
      .catch((error) => {
        throw new MailFailure(`a mail could not be sent: ${describeReason(error)}`, refusedBy(error))
      })
  }
}

/** Connects and signs in. Throws an error with the reason if that fails. */
export async function checkMailServer(smtpUrl: string): Promise<void> {
  await transportTo(smtpUrl)
    .verify()
    .catch((error) => {
      throw new Error(describeReason(error))
    })
}

function transportTo(smtpUrl: string) {
  const { username, hostname } = new URL(smtpUrl)
  return createTransport({
    url: smtpUrl,
    ...TIMEOUTS,
    // Never sends a password in clear text, even if an attacker removes STARTTLS from the server's greeting.
    requireTLS: username !== '' && !isLoopback(hostname),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

function formatSender(from: string, brand = '') {
  const [, name, address] = /^([^<]*)<(.+)>$/.exec(from) ?? [from, '', from]
  return { name: unquoted(name!.trim()) || brand, address: address! }
}

/** Unquotes a name that the header quotes, as for a comma. */
const unquoted = (name: string) => (/^".*"$/.test(name) ? name.slice(1, -1) : name)

interface SmtpError extends Error {
  code?: string
  command?: string
  response?: string
  responseCode?: number
}

function refusedBy({ command, responseCode = 0 }: SmtpError): MailFailure['refused'] {
  if (responseCode < 500) return null
  if (command === 'RCPT TO') return 'recipient'
  return command === 'DATA' ? 'mail' : null
}

/** Reports only the number of a server's reply: the text may repeat the address, or the mail, which contains the code. */
function describeReason({ code, command, response, responseCode, message }: SmtpError): string {
  const detail = response === undefined ? message : `the server replied ${responseCode} to ${command}`
  return code === undefined ? detail : `${detail} (${code})`
}
