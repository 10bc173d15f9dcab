import { beforeEach, expect, inject } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { Language } from '../../server/browser/language.ts'
import type { EmailCodes } from '../../server/browser/login/email-code.ts'
import { emailCodes } from '../../server/browser/login/email-code.ts'
import type { SendMail } from '../../server/browser/login/mail.ts'
import { createMailer } from '../../server/browser/login/mail.ts'
import { words } from '../../server/browser/words/words.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { startMailServer } from './mail-server.ts'
import { createMember } from './members.ts'

export const FROM = 'Member apps <no-reply@example.org>'
export const MINUTE_MS = 60_000

export const anyEmail = () => `${id('mia')}@example.org`
export const otherThan = (code: string, by = 1) => String((Number(code) + by) % 100_000_000).padStart(8, '0')

let addresses = 0
/** A network address that no other test of this file uses. */
export const anyAddress = () => `10.0.${addresses >> 8}.${addresses++ & 255}`

interface Node {
  offsetMs: number
  errors: unknown[]
  codes: EmailCodes
  send: (
    interaction: string,
    email: string,
    language?: Language,
    address?: string,
    browser?: string | null,
  ) => ReturnType<EmailCodes['send']>
}

/** One for each worker process of Vitest, beside that of other tests: sixty mails at once need its connections. */
let pool: Database | undefined

/** Members who sign in with codes: a database, a mail server and any number of nodes. */
export async function startCodeWorld() {
  pool ??= openTestDatabase(inject('databaseUrl'))
  const db = pool
  const mailServer = await startMailServer()

  /** One node, with its own clock and errors. */
  const startNode = (options: { sendMail?: SendMail; database?: Database; brand?: string } = {}): Node => {
    const node: Node = {
      offsetMs: 0,
      errors: [],
      codes: emailCodes({
        db: options.database ?? db,
        now: () => Date.now() + node.offsetMs,
        sendMail: options.sendMail ?? createMailer(mailServer.url, FROM),
        onError: (error) => node.errors.push(error),
        limits: memoryLimits(() => node.offsetMs),
        brand: options.brand,
      }),
      send: (interaction, email, language = 'en', address = anyAddress(), browser = null) =>
        node.codes.send(interaction, email, words[language], { address, browser }),
    }
    return node
  }

  return {
    db,
    mailServer,
    startNode,
    readRow: (interaction: string) => db.loginCode.findUnique({ where: { interaction } }),
    /** A member with an interaction, and a node for them. */
    async arrive() {
      const node = startNode()
      const email = anyEmail()
      const member = await createMember(db, { email })
      const interaction = id('interaction')
      /** Sends a code to the member and reads it from the mail. */
      const sent = async (to = interaction, language: Language = 'en'): Promise<string> => {
        const before = mailServer.mailsTo(email).length
        expect(await node.send(to, email, language)).toBe('sent')
        return (await mailServer.codesTo(email, before + 1)).at(-1)!
      }
      return { node, email, member, interaction, sent }
    },
    async close() {
      await mailServer.close()
    },
  }
}

type CodeWorld = Awaited<ReturnType<typeof startCodeWorld>>

/** One for all tests of a file, and for each of them a member. */
export function codeWorld() {
  const world = started(startCodeWorld, ({ close }) => close())
  const own = {} as Awaited<ReturnType<CodeWorld['arrive']>>
  beforeEach(async () => void Object.assign(own, await world.arrive()))
  return { world, own }
}
