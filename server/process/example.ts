import { existsSync, readFileSync } from 'node:fs'
import { METHODS } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Router from '@koa/router'
import type { Database } from '../../prisma/client.ts'
import { nameOf } from '../http/match-route.ts'
import { routed } from '../http/routed.ts'
import type { State, Step } from '../http/state.ts'

const HOST = 'example.localhost'
const CLIENT = 'example-app'

/** Only these, never what else may lie there. */
const files = { '/': 'index.html', '/app.js': 'app.js', '/style.css': 'style.css' }

export interface Example {
  step: Step
  /**
   * Its address on this port, to which members are sent back from now on; undefined when its client has been removed.
   * Another service on the same data keeps its own address.
   */
  open: (db: Database, port: number) => Promise<string | undefined>
}

/** The sample app at a host of its own; undefined when the package came without it. */
export function example(api: string, issuer: string): Example | undefined {
  const directory = exampleDirectory()
  return directory === undefined ? undefined : { step: serve(directory, api, issuer), open }
}

function serve(directory: string, api: string, issuer: string): Step {
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  for (const [path, name] of Object.entries(files)) {
    const text = readFileSync(join(directory, name), 'utf8')
    router.get(path, (ctx) => {
      ctx.type = name
      ctx.body = text
    })
  }
  router.get('/config.json', (ctx) => {
    ctx.body = { api, issuer, client_id: CLIENT }
  })
  const step = routed(router)
  const policy = policyFor(api, issuer)
  return (ctx, next) => {
    if (nameOf(ctx.state.host) !== HOST) return next()
    ctx.set('Content-Security-Policy', policy)
    ctx.set('Referrer-Policy', 'no-referrer')
    return step(ctx, next)
  }
}

/** What the app needs, and nothing else: its own files, the API, the authorization server and where that describes itself. */
function policyFor(api: string, issuer: string) {
  const { origin, pathname } = new URL(issuer)
  const metadata = `${origin}/.well-known/oauth-authorization-server${pathname}`
  const own = "script-src 'self'; style-src 'self'; img-src data:"
  const none = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  return `default-src 'none'; ${own}; connect-src 'self' ${api}/ ${issuer}/ ${metadata}; ${none}`
}

async function open(db: Database, port: number) {
  const client = await db.client.findUnique({ where: { id: CLIENT }, select: { redirectUris: true } })
  if (!client) return undefined
  const address = `http://${HOST}:${port}/`
  if (!client.redirectUris.includes(address)) {
    await db.client.update({ where: { id: CLIENT }, data: { redirectUris: { push: address } } })
  }
  return address
}

/** Of the package, whose compiled output has none of its own. */
function exampleDirectory(): string | undefined {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const found = join(directory, 'examples', 'third-party')
    if (existsSync(join(found, 'index.html'))) return found
    if (directory === dirname(directory)) return undefined
  }
}
