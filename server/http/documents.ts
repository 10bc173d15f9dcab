import { METHODS } from 'node:http'
import Router from '@koa/router'
import { openApiDocument } from '../../rest-facade/openapi.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import type { BaseUrls } from './match-route.ts'
import { computeTag, isRevalidated } from './revalidation.ts'
import { routerStep } from './router-step.ts'
import { JSON_TYPE } from './send.ts'
import type { State, Step } from './state.ts'

interface Described {
  brand: string
  baseUrls: BaseUrls
  localUrls?: BaseUrls | undefined
  issuer?: string | undefined
  /** The issuer at the local addresses. */
  localIssuer?: string | undefined
}

/** Serves each API's OpenAPI document at `/v1/openapi.json` of its host; it contains the API's addresses. */
export function documents({ brand, baseUrls, localUrls, issuer, localIssuer }: Described): Step {
  /** By address; created at first use, so that start-up does not wait for them. */
  const made = new Map<string, { text: string; etag: string }>()
  const buildDocument = (name: Section, isLocal: boolean) => {
    const [base, local] = [baseUrls[name], localUrls?.[name]]
    const all = [local, base].filter((url) => url !== undefined)
    const urls = isLocal ? all : all.toReversed()
    const found = made.get(urls[0]!)
    if (found) return found
    const described = { urls, host: new URL(base).host, brand, issuer: isLocal ? localIssuer : issuer }
    const text = JSON.stringify(openApiDocument(name, described))
    const document = { text, etag: `"${computeTag(text)}"` }
    made.set(urls[0]!, document)
    return document
  }
  // Exact paths, as for endpoints; METHODS makes every other method 405, not only those that the router knows.
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  router.get('/v1/openapi.json', (ctx) => {
    ctx.state.operation = 'openapi'
    const { section } = ctx.state
    if (!section) throw errors.addressUnknown()
    const { text, etag } = buildDocument(section, ctx.state.base !== undefined)
    if (isRevalidated(ctx, etag)) return
    ctx.type = JSON_TYPE
    ctx.body = text
  })
  const step = routerStep(router)
  return (ctx, next) => (ctx.state.route ? next() : step(ctx, next))
}
