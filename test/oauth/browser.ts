import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:http'

export interface Page {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The URL requested, and the one redirected to. */
  url: URL
  location: URL | undefined
  /** A JSON body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert its shape
  json: any
}

interface Cookie {
  host: string
  path: string
  name: string
  value: string
  attributes: string
}

type Fields = Record<string, string | string[]>

const isOfService = ({ hostname, pathname }: URL) =>
  /\.test$|^auth\.localhost$/.test(hostname) || pathname.startsWith('/auth/v1/oauth/')

/** The parts of a browser that the pages need: cookies by host and path, forms with their Origin, redirects. */
export class Browser {
  cookies: Cookie[] = []
  /** Every cookie ever set, deleted ones included. */
  readonly setCookies: string[] = []
  readonly #port: number
  language = 'en'
  /** Sent with every request. */
  headers: Record<string, string> = {}
  /** The address that its connections come from; undefined: the system's choice. */
  localAddress: string | undefined

  constructor(port: number) {
    this.#port = port
  }

  get(address: string | URL, headers: Record<string, string> = {}): Promise<Page> {
    return this.send('GET', new URL(address), headers)
  }

  post(address: string | URL, fields: Fields | string, headers: Record<string, string> = {}): Promise<Page> {
    const url = new URL(address)
    const own = { origin: url.origin, 'content-type': 'application/x-www-form-urlencoded' }
    return this.send('POST', url, { ...own, ...headers }, typeof fields === 'string' ? fields : encoded(fields))
  }

  /** Posts a form with files, as the browser writes it. */
  async upload(address: string | URL, form: FormData, headers: Record<string, string> = {}): Promise<Page> {
    const url = new URL(address)
    const written = new Response(form)
    const own = { origin: url.origin, 'content-type': written.headers.get('content-type')! }
    return this.send('POST', url, { ...own, ...headers }, Buffer.from(await written.arrayBuffer()))
  }

  /** Follows redirects to hosts of the service. */
  async follow(page: Page): Promise<Page> {
    let here = page
    for (let hop = 0; hop < 10 && here.location && isOfService(here.location); hop++)
      here = await this.get(here.location)
    return here
  }

  open = async (address: string | URL) => this.follow(await this.get(address))

  /** Posts a page's form and follows redirects. */
  submit = async (page: Page, step: string, fields: Fields) =>
    this.follow(await this.post(new URL(`${readFormAction(page)}/${step}`, page.url), fields))

  cookie = (name: string) => this.cookies.find((one) => one.name === name)

  async send(method: string, url: URL, headers: Record<string, string>, body?: string | Buffer): Promise<Page> {
    // RFC 6265, 5.4: longer paths come first.
    const cookies = this.cookies
      .filter(({ host, path }) => host === url.hostname && isBelow(url.pathname, path))
      .sort((one, other) => other.path.length - one.path.length)
    const sent = request({
      port: this.#port,
      host: '127.0.0.1',
      agent: false,
      localAddress: this.localAddress,
      method,
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        'accept-language': this.language,
        accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
        ...this.headers,
        ...(cookies.length > 0 && { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') }),
        ...(body !== undefined &&
          !('transfer-encoding' in headers) && { 'content-length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    })
    return new Promise((resolve, reject) => {
      sent.on('error', reject).on('response', (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
        response.on('end', () => {
          try {
            for (const line of response.headers['set-cookie'] ?? []) this.#keep(line, url)
          } catch (error) {
            return reject(error)
          }
          const text = Buffer.concat(chunks).toString()
          const { location } = response.headers
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text,
            url,
            location: location === undefined ? undefined : new URL(location, url),
            json: text !== '' && /json/.test(response.headers['content-type'] ?? '') ? JSON.parse(text) : undefined,
          })
        })
      })
      sent.end(body)
    })
  }

  #keep(line: string, url: URL) {
    this.setCookies.push(line)
    const [, name, value, attributes] = /^([^=]+)=([^;]*)(.*)$/.exec(line)!
    if (!isAcceptable(name!, attributes!)) throw new Error(`A browser drops the cookie ${line}`)
    const path = /;\s*path=([^;]+)/i.exec(attributes!)?.[1] ?? '/'
    this.cookies = this.cookies.filter((one) => !(one.name === name && one.path === path && one.host === url.hostname))
    if (value === '' || /max-age=0|expires=Thu, 01 Jan 1970/i.test(attributes!)) return
    this.cookies.push({ host: url.hostname, path, name: name!, value: value!, attributes: attributes! })
  }
}

/** The rules of the prefixes of names (RFC 6265bis, 4.1.3); our cookies are never for other hosts. */
const isAcceptable = (name: string, attributes: string) =>
  !/;\s*domain=/i.test(attributes) &&
  (!/^__(?:Secure|Host)-/.test(name) || /;\s*secure/i.test(attributes)) &&
  (!name.startsWith('__Host-') || /;\s*path=\/(?:;|$)/i.test(attributes))

const isBelow = (path: string, above: string) =>
  path === above || path.startsWith(above.endsWith('/') ? above : `${above}/`)

const encoded = (fields: Fields) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one])),
  ).toString()

/** The path that a page's forms post to, without the last segment. */
export function readFormAction({ text, status, headers }: Page): string {
  const [, action] = /<form[^>]*action="([^"]+)\/[a-z-]+"/.exec(text) ?? []
  if (action === undefined) throw new Error(`There is no form here: ${status} ${headers.location ?? ''} ${text}`)
  return action
}

/** The values of a page's fields with this name. */
export const offered = ({ text }: Page, name: string): string[] =>
  [...text.matchAll(/<(?:input|button)\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => new RegExp(`\\bname="${name}"`).test(tag))
    .map((tag) => /\bvalue="([^"]*)"/.exec(tag)?.[1] ?? '')
