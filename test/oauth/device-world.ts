import type { AuthWorld } from './auth-world.ts'
import { issuer } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

interface Begun {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}

/** The steps of a device, and its member's in a browser. */
export function deviceFlow({ app, newBrowser, toConsent }: Pick<AuthWorld, 'app' | 'newBrowser' | 'toConsent'>) {
  const authorize = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    app.post(`${issuer}/device/auth`, fields, headers)
  const begin = async (client: string, scope: string, more: Record<string, string> = {}): Promise<Begun> => {
    const answer = await authorize({ client_id: client, scope, ...more })
    if (answer.status !== 200) throw new Error(`No device code: ${answer.status} ${answer.text}`)
    return answer.json
  }
  const poll = (client: string, device_code: string, more: Record<string, string> = {}) =>
    app.post(`${issuer}/token`, { grant_type: deviceGrant, client_id: client, device_code, ...more })
  const enter = (user_code: string, browser: Browser) => browser.post(`${issuer}/device`, { user_code })

  /** Up to the consent page. */
  const toDecision = async (code: string, member: string, browser = newBrowser()): Promise<[Page, Browser]> => {
    const entered = await enter(code, browser)
    if (!entered.location) throw new Error(`The code was not accepted: ${entered.status} ${entered.text}`)
    return [await toConsent(browser, entered.location, member), browser]
  }
  const decideOn = (page: Page, browser: Browser, fields: Record<string, string | string[]>) =>
    browser.submit(page, 'consent', fields)

  const allow = async (code: string, scope: string, member: string, organisation: string, browser?: Browser) => {
    const [page, its] = await toDecision(code, member, browser)
    return decideOn(page, its, { organisation, scope: scope.split(' '), decision: 'allow' })
  }
  return { authorize, begin, poll, enter, toDecision, decideOn, allow }
}
