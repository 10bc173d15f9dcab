import { createServer } from 'node:http'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { rolldown } from 'rolldown'
import { describe, expect, it, onTestFinished } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { command, freePort } from '../../process/service.ts'
import { inChromium } from '../in-chromium.ts'
import { npm } from '../install/npm.ts'
import { allowOrContinue, pick } from '../sign-in-pages.ts'

const absent = (path: string) => {
  const names = path.split('.')
  const last = names.pop()
  const holder = ['globalThis', ...names].join('.')
  return `Object.defineProperty(${holder}, '${last}', { value: undefined, configurable: true })`
}
const denied = (name: string) =>
  `Object.defineProperty(globalThis, '${name}', { get() { throw new DOMException('Denied.', 'SecurityError') } })`
const WORKS = 'works'
const lacks = (feature: string) =>
  `Sign-in needs ${feature}, which this browser or runtime does not have or does not allow here.`

/** What a page lacks, and whether it signs in, keeps a live collection and renews, or says why not. */
const LACKING: [string, string, string][] = [
  ['AbortSignal.any', absent('AbortSignal.any'), WORKS],
  ['AbortSignal.timeout', absent('AbortSignal.timeout'), WORKS],
  ['crypto.randomUUID', absent('crypto.randomUUID'), WORKS],
  ['structuredClone', absent('structuredClone'), WORKS],
  ['TextDecoderStream', absent('TextDecoderStream'), WORKS],
  ['URL.parse', absent('URL.parse'), WORKS],
  ['navigator.locks', absent('navigator.locks'), WORKS],
  ['indexedDB', absent('indexedDB'), WORKS],
  ['indexedDB, which is not allowed', denied('indexedDB'), WORKS],
  [
    'indexedDB, which fails once',
    `{ const { open } = IDBFactory.prototype
      IDBFactory.prototype.open = function () {
        IDBFactory.prototype.open = open
        throw new DOMException('Gone.', 'InvalidStateError')
      } }`,
    WORKS,
  ],
  ['sessionStorage', absent('sessionStorage'), lacks('sessionStorage')],
  ['sessionStorage, which is not allowed', denied('sessionStorage'), lacks('sessionStorage')],
  ['crypto.subtle', absent('crypto.subtle'), lacks('crypto.subtle.digest')],
  ['URLSearchParams.set', absent('URLSearchParams.prototype.set'), lacks('URL')],
  ['AbortController', absent('AbortController'), lacks('AbortController')],
]

describe.skipIf(!chromium)(`the SDK in Chromium${skipReason}`, () => {
  const here = inChromium()

  it.each(LACKING)('without %s', async (_, script, outcome) => {
    const { page, complaints } = await here.visit()
    // The sample app alone, not the pages of the authorization server.
    await page.addInitScript(`if (location.hostname.startsWith('example.')) { ${script} }`)
    await page.goto(here.sampleApp)
    await page.getByRole('button', { name: 'Sign in with your club' }).click()
    if (outcome !== WORKS) {
      await page.getByRole('status').getByText(outcome, { exact: true }).waitFor()
      expect(page.url()).toBe(here.sampleApp)
    } else {
      await signIn(page, 'dora')
      await page.getByText('Dora Nowak').waitFor()
      const name = `Team ${Math.random()}`
      await page.locator('#score-name:enabled').fill(name)
      await page.getByRole('button', { name: 'Add' }).click()
      await page.locator('#scores').getByText(name).waitFor()
      await page.reload()
      await page.locator('#scores').getByText(name).waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.locator('button[name=decision][value=end]').click()
      await page.getByText('You are signed out.').waitFor()
    }
    expect(complaints.filter((text) => !/status of 40[14]/.test(text))).toEqual([])
  })

  it("signs in once with React's StrictMode, whose effects run twice", async () => {
    const port = await freePort()
    const url = `http://localhost:${port}/`
    const scope = 'svc.me.profile:read'
    const names = ['--id', 'strict', '--name', 'Strict', '--app', 'strict', '--app-name', 'Strict']
    const owner = ['--team', 'strict', '--team-name', 'Strict', '--level', 'developer', '--provider', 'provider']
    const add = ['add', ...names, ...owner, '--redirect', url, '--scope', scope]
    expect(await command('client', add, here.env).ended).toMatchObject({ code: 0, stderr: '' })
    await serve(port, await strictPage(`http://auth.localhost:${here.service.port}/v1/oauth`, url, scope))

    const { page, complaints } = await here.visit(url)
    const exchanges: string[] = []
    page.on('request', (sent) => sent.postData()?.includes('authorization_code') && exchanges.push(sent.url()))
    await page.getByText('runs: 2, signed in: false').waitFor()
    await page.getByRole('button', { name: 'Sign in' }).dblclick()
    await signIn(page, 'dora')
    await page.getByText(`runs: 2, signed in: true, from: ${url} ${url}`).waitFor()
    expect([exchanges.length, page.url(), complaints]).toEqual([1, url, []])
  })

  /** A page whose effect makes its own object for the sign-in, as components do. */
  async function strictPage(issuer: string, redirectUri: string, scope: string): Promise<string> {
    const directory = here.env.DATA_DIR!
    await npm(directory, 'install', '--prefix', directory, 'react@19.3.1', 'react-dom@19.3.1')
    const source = `
      import { StrictMode, createElement as h, useEffect, useState } from 'react'
      import { createRoot } from 'react-dom/client'
      import { browserSignIn } from '${join(import.meta.dirname, '../../../clients/sdk/dist/browser.js')}'
      const options = ${JSON.stringify({ issuer, clientId: 'strict', redirectUri, scope })}
      const found = []
      let runs = 0
      function Page() {
        const [text, show] = useState('')
        const [auth] = useState(() => browserSignIn(options))
        useEffect(() => {
          runs++
          browserSignIn(options).finish().then(async (from) => {
            found.push(from)
            if (found.length < runs || runs < 2) return
            const signedIn = await auth.isSignedIn()
            show('runs: ' + runs + ', signed in: ' + signedIn + (signedIn ? ', from: ' + found.join(' ') : ''))
          }, (error) => show(error.message))
        }, [])
        return h('main', null, h('p', null, text), h('button', { onClick: () => auth.signIn() }, 'Sign in'))
      }
      createRoot(document.getElementById('root')).render(h(StrictMode, null, h(Page)))`
    const build = await rolldown({
      input: 'page',
      platform: 'browser',
      resolve: { modules: [join(directory, 'node_modules')] },
      transform: { define: { 'process.env.NODE_ENV': '"development"' } },
      plugins: [
        {
          name: 'page',
          resolveId: (id) => (id === 'page' ? join(directory, 'page.js') : null),
          load: (id) => (id === join(directory, 'page.js') ? source : null),
        },
      ],
    })
    const { output } = await build.generate({ format: 'iife' })
    return output[0].code
  }
})

async function serve(port: number, script: string) {
  const html =
    '<!doctype html><html lang="en"><link rel="icon" href="data:,"><div id="root"></div><script src="/page.js"></script>'
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : html)
  })
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
}

async function signIn(page: Page, member: string) {
  await pick(page, member)
  await allowOrContinue(page)
}
