import { request } from 'node:http'
import { createServer } from 'node:https'
import { generate } from 'selfsigned'
import { expect, it, onTestFinished } from 'vitest'
import { redirectUri, startAuthWorld } from '../../oauth/auth-world.ts'
import { chromium, launchChromium, skipReason } from '../../oauth/chromium.ts'
import { listenLocally } from '../../support/local-server.ts'

const authBaseUrl = 'https://auth.test/v1'
const scope = 'svc.me.profile:read'

/** Ends TLS, as a reverse proxy does, and passes requests on to a port; its port. */
async function startTls(to: number): Promise<number> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'auth.test' }])
  const server = createServer({ key, cert }, (req, res) => {
    const passed = request({ port: to, method: req.method, path: req.url, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(res)
    })
    req.pipe(passed)
  })
  return listenLocally(server)
}

it.skipIf(!chromium)(`Chromium keeps the cookies of an https address and signs a member in${skipReason}`, async () => {
  const { world, client, authorizeUrl } = await startAuthWorld({ authBaseUrl })
  onTestFinished(() => world.close())
  const tls = `127.0.0.1:${await startTls(world.publicPort)}`
  // The app's page is whatever stands there: Playwright's routes see no redirects.
  const browser = await launchChromium([`--host-resolver-rules=MAP auth.test:443 ${tls}, MAP app.example:443 ${tls}`])
  onTestFinished(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()

  await page.goto(authorizeUrl({ client, scope, more: { prompt: 'login' } }).url.href)
  const names = async () => (await context.cookies()).map(({ name }) => name.replace(/\.sig$/, ''))
  expect([...new Set(await names())].sort()).toEqual([
    '__Host-member_browser',
    '__Secure-member_interaction',
    '__Secure-member_request',
    '__Secure-member_resume',
  ])
  await page.selectOption('select[name=member]', world.ids.member)
  await page.click('form[action$="/pick"] button')
  await page.click('button[value=allow]')
  await page.waitForURL(`${redirectUri}?*`)
  expect(new URL(page.url()).searchParams.get('code')).toEqual(expect.any(String))

  await page.goto(`${authBaseUrl}/oauth/connected`)
  expect(await page.textContent('main')).toContain('Mia Member')
  const cookies = await context.cookies()
  expect(cookies.map(({ name }) => name)).toContain('__Host-member_session')
  for (const { name, secure, httpOnly } of cookies)
    expect({ name, secure, httpOnly }).toEqual({ name, secure: true, httpOnly: true })
})
