import { METHODS } from 'node:http'
import Router from '@koa/router'
import { openApiDocument } from '../../rest-facade/openapi.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import type { BaseUrls } from './match-route.ts'
import { routed } from './routed.ts'
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
  const texts = new Map<string, string>()
  const textOf = (name: Section, isLocal: boolean) => {
    const [base, local] = [baseUrls[name], localUrls?.[name]]
    const all = [local, base].filter((url) => url !== undefined)
    const urls = isLocal ? all : all.toReversed()
    const described = { urls, host: new URL(base).host, brand, issuer: isLocal ? localIssuer : issuer }
    const text = texts.get(urls[0]!) ?? JSON.stringify(openApiDocument(name, described))
    texts.set(urls[0]!, text)
    return text
  }
  // Exact paths, as for endpoints; METHODS makes every other method 405, not only those that the router knows.
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  router.get('/v1/openapi.json', (ctx) => {
    ctx.state.operation = 'openapi'
    const { section } = ctx.state
    if (!section) throw errors.addressUnknown()
    ctx.type = JSON_TYPE
    ctx.body = textOf(section, ctx.state.base !== undefined)
  })
  const step = routed(router)
  return (ctx, next) => (ctx.state.route ? next() : step(ctx, next))
}
