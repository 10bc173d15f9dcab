import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, it } from 'vitest'
import { openDatabase } from '../../../prisma/client.ts'
import { emailCodes } from '../../../server/browser/login/email-code.ts'
import { MAX_CODES_OF_STRANGERS } from '../../../server/browser/login/login-codes.ts'
import { createMailer } from '../../../server/browser/login/mail.ts'
import { memoryLimits } from '../../../server/limits/memory.ts'
import { issuer, startAuthWorld } from '../../oauth/auth-world.ts'
import type { Browser } from '../../oauth/browser.ts'
import { startMailServer } from '../../oauth/mail-server.ts'
import { createMember } from '../../oauth/members.ts'
import { id } from '../../support/tenant.ts'
import { noteFigure } from '../noted-figure.ts'

const connected = `${issuer}/connected`
const MEMBERS = 20

interface Play {
  strangers: number
  milliseconds: number
  /** Each stranger's pause between two requests. */
  pauseMs: number
}

/** An address of 100.64.0.0/10 that no other visitor of the test has. */
const toAddress = (visitor: number) => `100.64.${visitor >> 8}.${visitor & 255}`

/**
 * Strangers behind one proxy ask for codes all the time, to addresses that nobody has and to those of the first ten members, each
 * again after a pause. These ten have signed in before; ten others sign in for the first time, each in a moment of their own.
 */
async function playStrangers({ strangers, milliseconds, pauseMs }: Play) {
  const db = openDatabase(inject('databaseUrl'), () => {})
  const mailServer = await startMailServer()
  const spent = new Map<string, number>()
  const { world, newBrowser } = await startAuthWorld({
    trustedProxies: ['127.0.0.1'],
    auth: {
      codes: emailCodes({
        db,
        now: Date.now,
        sendMail: createMailer(mailServer.url, 'Member apps <no-reply@example.org>'),
        onError: () => {},
        limits: memoryLimits(),
      }),
      developmentLogin: false,
    },
    onLog(line) {
      if (!line.startsWith('{')) return
      const { requestId, ms } = JSON.parse(line)
      const [visitor] = String(requestId).split('.')
      spent.set(visitor!, (spent.get(visitor!) ?? 0) + ms)
    },
  })
  const visit = (visitor: number) => {
    const browser = newBrowser()
    browser.headers = { 'x-forwarded-for': `203.0.113.9, ${toAddress(visitor)}` }
    return browser
  }

  /** The code requested last, among the mails that strangers requested. */
  const ownCode = async (email: string) => {
    const { interaction, hash } = (await db.loginCode.findFirst({ where: { email }, orderBy: { sentAt: 'desc' } }))!
    const isOwn = (code: string) => createHash('sha256').update(`${interaction}:${code}`).digest('hex') === hash
    const own = async () => (await mailServer.codesTo(email)).find(isOwn)
    await expect.poll(own).toBeDefined()
    return (await own())!
  }

  const signIn = async (browser: Browser, email: string) => {
    browser.cookies = browser.cookies.filter(({ name }) => !name.startsWith('member_session'))
    const asked = await browser.submit(await browser.open(connected), 'email', { email })
    if (asked.status !== 200) return false
    const list = await browser.submit(asked, 'code', { code: await ownCode(email) })
    return list.text.includes('Mia Member')
  }

  const members = await Promise.all(
    Array.from({ length: MEMBERS }, async (_, n) => {
      const email = `${id('mia')}@example.org`
      await createMember(db, { email })
      return { name: `member-${n}`, email, isKnown: n < MEMBERS / 2, browser: visit(strangers + n) }
    }),
  )
  for (const { browser, email, isKnown } of members) if (isKnown) await signIn(browser, email)

  const end = Date.now() + milliseconds
  const stranger = async (visitor: number) => {
    await sleep((visitor / strangers) * pauseMs)
    const browser = visit(visitor)
    for (let n = 0; Date.now() < end; n++) {
      const email = n % 2 ? `${id('nobody')}@example.org` : members[visitor % (MEMBERS / 2)]!.email
      await browser.post(`${connected}/email`, { email }).catch(() => {})
      await sleep(Math.max(0, Math.min(pauseMs, end - Date.now())))
    }
  }
  const member = async ({ name, email, isKnown, browser }: (typeof members)[number], at: number) => {
    await sleep((milliseconds * at) / MEMBERS)
    const requested = () => db.loginCode.count({ where: { email } })
    if (isKnown) await expect.poll(requested).toBe(MAX_CODES_OF_STRANGERS)
    browser.headers = { ...browser.headers, 'x-request-id': `${name}.sign-in` }
    const signedIn = await signIn(browser, email)
    return { name, isKnown, signedIn, ms: () => spent.get(name) ?? 0 }
  }
  const [signIns] = await Promise.all([
    Promise.all(members.map(member)),
    ...Array.from({ length: strangers }, (_, visitor) => stranger(visitor)),
  ])
  const results = signIns.map(({ ms, ...rest }) => ({ ...rest, ms: ms() }))
  await world.close()
  await mailServer.close()
  await db.$disconnect()
  return { results, slowestMs: Math.max(...results.map(({ ms }) => ms)) }
}

it('20 members sign in within 2 s each in a minute in which 1,000 strangers behind the same proxy ask for codes', async () => {
  const { results, slowestMs } = await playStrangers({ strangers: 1_000, milliseconds: 60_000, pauseMs: 10_000 })
  noteFigure({ name: 'slowest sign-in', value: slowestMs, unit: 'ms', bound: 2_000 })
  expect(results.filter(({ signedIn }) => !signedIn)).toEqual([])
  expect(results.filter(({ ms }) => ms >= 2_000)).toEqual([])
})
