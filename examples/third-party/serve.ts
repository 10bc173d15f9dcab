import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, extname, join } from 'node:path'

interface Settings {
  api: string
  sync: string
  issuer: string
  clientId: string
}

const files: Record<string, string> = {
  '/': 'index.html',
  '/app.js': 'app.js',
  '/style.css': 'style.css',
  '/de.json': 'de.json',
}
/** And these of the built SDK. */
const sdkFiles = ['client.js', 'browser.js', 'shared.js']
const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
}

/**
 * A handler for node:http that serves the app, and its settings as `config.json`; undefined without the app's files or the SDK.
 * `unknown` responds to other paths.
 */
export function sampleApp({ api, sync, issuer, clientId }: Settings) {
  const directory = findFiles()
  const sdk = directory && join(directory, '../../clients/sdk/dist')
  if (!sdk || !existsSync(sdk)) return undefined
  const config = JSON.stringify({ api, sync, issuer, client_id: clientId })
  const contents = new Map([['/config.json', { type: 'application/json; charset=utf-8', text: config }]])
  const add = (path: string, file: string) =>
    contents.set(path, { type: `${types[extname(file)]}; charset=utf-8`, text: readFileSync(file, 'utf8') })
  for (const [path, name] of Object.entries(files)) add(path, join(directory, name))
  for (const name of sdkFiles) add(`/sdk/${name}`, join(sdk, name))
  const policy = policyFor([api, sync], issuer)

  return (
    { method, url = '/' }: IncomingMessage,
    response: ServerResponse,
    unknown: () => unknown = () => response.writeHead(404).end(),
  ) => {
    const content = contents.get(url.split('?')[0]!)
    if (!content) return unknown()
    response.setHeader('Content-Security-Policy', policy).setHeader('Referrer-Policy', 'no-referrer')
    if (method !== 'GET' && method !== 'HEAD') response.writeHead(405, { Allow: 'HEAD, GET' }).end()
    else {
      response.setHeader('Content-Length', Buffer.byteLength(content.text))
      response.writeHead(200, { 'Content-Type': content.type }).end(method === 'GET' ? content.text : undefined)
    }
  }
}

function policyFor(apis: readonly string[], issuer: string) {
  const { origin, pathname } = new URL(issuer)
  const metadata = `${origin}/.well-known/oauth-authorization-server${pathname}`
  const own = "script-src 'self'; style-src 'self'; img-src data:"
  const none = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  return `default-src 'none'; ${own}; connect-src 'self' ${apis.map((api) => `${api}/`).join(' ')} ${issuer}/ ${metadata}; ${none}`
}

/** Next to this file; for a compiled one in the package above, unless an installation omitted the examples. */
function findFiles(): string | undefined {
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    for (const found of [directory, join(directory, 'examples', 'third-party')]) {
      if (existsSync(join(found, 'index.html'))) return found
    }
    if (directory === dirname(directory)) return undefined
  }
}
