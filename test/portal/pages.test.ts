import { beforeAll, describe, expect, it } from 'vitest'
import { themeFile } from '../../server/browser/look/theme.ts'
import { listPages, portal, portalWorld, weigh } from './portal-world.ts'

const team = portalWorld()
let addresses: string[]
beforeAll(async () => {
  const { world, sandbox, failed } = team
  const { id } = await sandbox()
  const { id: secret } = await team.as(team.owner).clients.secrets.create({ client: id })
  addresses = listPages(world.ids.team, world.ids.app, id, await failed(), secret)
})

const hrefs = (text: string) => [...text.matchAll(/href="([^"]+)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'))

describe('the portal', () => {
  it.each(['en', 'de'] as const)('has no inline script or style and no gap in any page, in %s', async (language) => {
    const browser = await team.signIn(team.owner)
    browser.language = language
    for (const address of ['', '/mails', ...addresses]) {
      const { status, text, headers } = await browser.get(portal + address)
      expect([address, status]).toEqual([address, 200])
      expect(text).toContain(`<html lang="${language}">`)
      const theme = `<script src="/v1/oauth${themeFile.place}" data-system="${{ en: 'Theme: system', de: 'Farben: System' }[language]}"`
      expect(text.replace(theme, '')).not.toBe(text)
      expect(text.replace(theme, '')).not.toMatch(
        /<script(?! src="\/v1\/oauth\/developers\/script\.js" defer data-copy="\w+" data-copied="\w+"><\/script>)|<style|\sstyle=|javascript:|\son[a-z]+=|undefined|\bnull\b|NaN|\[object/,
      )
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self';.*frame-ancestors 'none'$/,
      )
      expect(headers['cache-control']).toBe('no-store')
    }
  })

  it('weighs at most 20 kB with gzip on each page, and 60 kB with its style sheets and at most 20 kB of script', async () => {
    const { host } = new URL(portal)
    const sizes = new Map<string, number>()
    const readSize = async (address: string) => {
      const known = sizes.get(address) ?? weigh((await team.asOwner.get(`http://${host}${address}`)).text)
      sizes.set(address, known)
      return known
    }
    for (const address of ['', '/mails', ...addresses]) {
      const { text } = await team.asOwner.get(portal + address)
      const parts = [...text.matchAll(/<(?:link rel="stylesheet" href|script src)="([^"]+)"/g)].map(([, part]) => part!)
      expect(parts).toHaveLength(4)
      let total = weigh(text)
      expect([address, Math.max(0, total - 20_000)]).toEqual([address, 0])
      for (const part of parts) total += await readSize(part)
      expect([address, Math.max(0, total - 60_000)]).toEqual([address, 0])
    }
    const scripts = [...sizes].filter(([address]) => address.endsWith('.js'))
    expect(scripts).toHaveLength(2)
    expect(scripts.filter(([, bytes]) => bytes > 20_000)).toEqual([])
  })

  it('leads to each of its pages by links, and each link leads to a page', async () => {
    const { host } = new URL(portal)
    const path = new URL(portal).pathname
    const seen = new Set<string>()
    const visit = async (address: string) => {
      if (seen.has(address)) return
      seen.add(address)
      const { status, text } = await team.asOwner.get(`http://${host}${address}`)
      expect([address, status]).toEqual([address, 200])
      for (const href of hrefs(text)) if (href.startsWith(path) && !href.endsWith('.css')) await visit(href)
    }
    await visit(path)
    expect([...seen]).toEqual(expect.arrayContaining(addresses.map((address) => path + address)))
  })

  it('has a style sheet', async () => {
    const { status, headers, text } = await team.newBrowser().get(`${portal}/style.css`)
    expect([status, headers['content-type']]).toEqual([200, 'text/css; charset=utf-8'])
    expect(text).not.toMatch(/url\(|@import/)
  })

  it('names each field, and each button of a row by what it acts on', async () => {
    for (const address of addresses) {
      const { text } = await team.asOwner.get(portal + address)
      const labels = [...text.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id)
      const ids = [...text.matchAll(/<(?:input|select|textarea)\b(?![^>]*type="(?:hidden|checkbox)")[^>]*>/g)].flatMap(
        ([tag]) => (/aria-label=/.test(tag) ? [] : /\bid="([^"]+)"/.exec(tag)![1]),
      )
      expect(ids).toEqual(labels)
      expect(new Set(ids).size).toBe(ids.length)
    }
  })
})

describe('someone who is in no team', () => {
  it('reads how to get into one', async () => {
    const { world, signIn } = team
    const { text } = await (await signIn(world.ids.member)).get(portal)
    expect(text).toContain('You are not in a team yet.')
  })

  it('leads a new team from an app to its first call', async () => {
    const { text } = await team.asStranger.get(`${portal}/teams/${team.strangers}`)
    expect(text).toContain('Three steps lead to the first call:')
    expect(text).toMatch(/<details class="card" open><summary>New app/)
    expect((await team.asOwner.get(team.own)).text).not.toContain('Three steps lead to the first call:')
  })

  it('offers for production no redirect that is for development only', async () => {
    const redirectUris = ['http://localhost:5173/', 'https://app.example/callback']
    const { id } = await team.sandbox({ redirectUris })
    const { text } = await team.asOwner.get(`${team.clientAt(id)}/production`)
    expect(text).toMatch(/<textarea id="request-redirectUris"[^>]*>\nhttps:\/\/app\.example\/callback<\/textarea>/)
  })
})
