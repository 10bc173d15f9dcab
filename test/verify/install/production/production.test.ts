import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startEmbedded } from '../../../../prisma/embedded/start.ts'
import { readContent } from '../../../commands/database-content.ts'
import { chromium, launchChromium } from '../../../oauth/chromium.ts'
import { query } from '../../../support/databases.ts'
import { missing, prepareMachine } from './machine.ts'

const page = fileURLToPath(new URL('../../../../docs/production.md', import.meta.url))
const lacking = [missing(), ...(chromium ? [] : ['Chromium'])].filter(Boolean).join(', ')
const skipReason = lacking ? ` (skipped: this machine has no ${lacking})` : ''

interface Block {
  language: string
  text: string
}

/** The page's sections by title, with their blocks of code in order. */
const sections = (await readFile(page, 'utf8'))
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.split('\n', 1)[0]!,
    blocks: [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]): Block => {
      return { language: language!, text: text! }
    }),
  }))

describe.skipIf(lacking)(`docs/production.md${skipReason}`, () => {
  let machine: Awaited<ReturnType<typeof prepareMachine>>
  let browser: Awaited<ReturnType<typeof launchChromium>>
  let member: BrowserContext
  /** What the reader copies: from the browser's address, and from the last output. */
  let code = ''
  let printed = ''

  beforeAll(async () => {
    machine = await prepareMachine(inject('databaseUrl'))
    const rules = `MAP *.example.org:443 127.0.0.1:${machine.https}`
    browser = await launchChromium([`--host-resolver-rules=${rules}`])
    member = await browser.newContext({ ignoreHTTPSErrors: true })
    await member.route('https://planner.example.org/**', (route) => route.fulfill({ body: 'the app' }))
  })
  afterAll(async () => {
    await browser?.close()
    await machine?.close()
  })

  /** Opens an app's address as Anna, signs in if asked, allows the app, and returns the code of the final address. */
  async function allow(address: string): Promise<string> {
    const tab = await member.newPage()
    const mails = machine.mailServer.mails.length
    await tab.goto(address)
    if (await tab.locator('#email').count()) {
      await tab.fill('#email', 'anna.berger@example.org')
      await tab.click('form[action$="/email"] button')
      const codes = await machine.mailServer.codesTo('anna.berger@example.org', mails + 1)
      await tab.fill('#code', codes.at(-1)!)
      await tab.click('form[action$="/code"] button')
    }
    // Where she has allowed it before, the page is skipped.
    if (!tab.url().startsWith('https://planner.example.org/')) await tab.click('button[value=allow]')
    await tab.waitForURL('https://planner.example.org/?code=*')
    const found = new URL(tab.url()).searchParams.get('code')!
    await tab.close()
    return found
  }

  async function runBlock({ language, text }: Block): Promise<string> {
    const block = machine.translate(text)
    if (language === 'nginx') {
      await writeFile(machine.path('conf.d/member-apps.conf'), block)
      return ''
    }
    const [, secret = ''] = /^Its secret, .*: (\S+)$/m.exec(printed) ?? []
    const filled = block.replaceAll('THE-COPIED-CODE', code).replaceAll('THE-PRINTED-SECRET', secret)
    printed = await machine.shell.run(filled)
    const [, address] = /^(https:\S+oauth\/authorize\S+)$/m.exec(printed) ?? []
    if (address) code = await allow(address)
    return printed
  }

  const before: Record<string, () => Promise<unknown>> = {
    '6. The proxy': () => machine.makeCertificate(),
    'The embedded database': () => rm(machine.path('bin/npm')),
    // The new release has one more migration.
    '10. An upgrade': async () => {
      const directory = machine.path('checkout/prisma/migrations/20990101000000_later')
      await mkdir(directory)
      await writeFile(`${directory}/migration.sql`, 'CREATE TABLE "Later" (id INTEGER PRIMARY KEY)')
    },
  }

  const results: Record<string, (output: string) => Promise<unknown>> = {
    async '3. Settings'(output) {
      expect(output).toMatch(/^Applied: 2\d+_\w+$/m)
    },
    async "4. The platform's data"() {
      const memberships = `SELECT "personId" || ' in ' || "organisationId" AS one FROM "Membership" ORDER BY 1`
      expect(await query(machine.databases.own, memberships)).toEqual([
        { one: 'anna in provider' },
        { one: 'anna in riverside' },
        { one: 'ben in riverside' },
      ])
    },
    async '5. The service and its worker'() {
      expect(await machine.installedUnits()).toEqual(await machine.units())
    },
    async '6. The proxy'() {
      // Each client is limited by its own address, and chooses none.
      const statuses = (address: string, count: number) =>
        machine.shell.run(
          `curl -s --interface ${address} -o /dev/null -w '%{http_code} ' -H 'Authorization: Bearer wrong' ` +
            `-H 'X-Forwarded-For: 192.0.2.7' 'https://apps.example.org/v1/me/profile?[1-${count}]'`,
        )
      expect((await statuses('127.0.0.2', 101)).trim().split(' ')).toEqual([...Array(100).fill('401'), '429'])
      expect(await statuses('127.0.0.3', 1)).toBe('401 ')
      const secure = await machine.shell.run(`curl -sI https://apps.example.org/v1/openapi.json`)
      expect(secure).toMatch(/^strict-transport-security: max-age=31536000\r$/im)
    },
    async '7. An app signs a member in'(output) {
      expect(output).toContain('{"id":"anna","firstName":"Anna","lastName":"Berger",')
      const [, address] = /^(https:\S+oauth\/authorize\S+)$/m.exec(output)!
      const long = `${address}&state=${'s'.repeat(1000)}&more=${'m'.repeat(2500)}`
      expect(await machine.shell.run(`curl -s -o /dev/null -w '%{http_code}' '${long}'`)).toBe('303')
    },
    async '8. A webhook'(output) {
      expect(output).toMatch(/[\d-]{10}T[\d:.]+Z training\.moved first \{"to":"19:30"\}$/m)
      expect(await query(machine.databases.own, 'SELECT state, attempts FROM "Delivery"')).toEqual([
        { state: 'delivered', attempts: 1 },
      ])
    },
    async '9. Backups'(output) {
      expect(output).toMatch(/^SigningKey\.ciphertext +1 +0 +0$/m)
      expect(output).toContain('planner-web')
      expect(output).toContain('Repeated: member.erase ben\n')
      expect(output).not.toContain('WARNING')
      const withoutStatistics = `SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples = -1`
      expect(await query(machine.databases.copy, withoutStatistics)).toEqual([])
      // The service goes on while the backup is made: with its request log, and with its first look for what has expired.
      const [copy, own] = await Promise.all([machine.databases.copy, machine.databases.own].map(readContent))
      const ofService = {
        AnsweredRequest: undefined,
        ClientUsage: undefined,
        FailedSignIn: undefined,
        Housekeeping: undefined,
        RefusedRequest: undefined,
      }
      expect({ ...copy, ...ofService }).toEqual({ ...own, ...ofService })
    },
    async '10. An upgrade'(output) {
      expect(output).toContain('Applied: 20990101000000_later\n')
      code = await allow(
        /^(https:\S+oauth\/authorize\S+)$/m.exec(await machine.shell.run('authorize svc.me.profile:read'))![1]!,
      )
      const profile = await machine.shell.run(
        `curl -sSf -H "Authorization: Bearer $(token ${code})" https://apps.example.org/v1/me/profile`,
      )
      expect(profile).toContain('"id":"anna"')
    },
    async 'The embedded database'() {
      const contents = []
      for (const name of ['data', 'data-elsewhere']) {
        const server = await startEmbedded(machine.path(name))
        contents.push(await readContent(server.url).finally(() => server.stop()))
      }
      expect(contents[1]).toEqual(contents[0])
      expect(contents[0]!.Person).toHaveLength(2)
    },
  }

  it.each(sections)('$title: its commands work as written', async ({ title, blocks }) => {
    await before[title]?.()
    let output = ''
    try {
      for (const block of blocks) output += await runBlock(block)
      await results[title]?.(output)
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await machine.logs()}`, { cause: error })
    }
  })

  it('has every section that is checked', () => {
    const titles = sections.map(({ title }) => title)
    expect(titles).toEqual(expect.arrayContaining([...Object.keys(before), ...Object.keys(results)]))
  })
})
