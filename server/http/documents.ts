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
}

/** Serves each API's OpenAPI document at `/v1/openapi.json` of its host; it contains the API's addresses. */
export function documents({ brand, baseUrls, localUrls, issuer }: Described): Step {
  /** Created at first use, so that start-up does not wait for them. */
  const texts = new Map<Section, string>()
  const textOf = (name: Section) => {
    const urls = [baseUrls[name], ...(localUrls ? [localUrls[name]] : [])] as const
    const text = texts.get(name) ?? JSON.stringify(openApiDocument(name, { urls, brand, issuer }))
    texts.set(name, text)
    return text
  }
  // Exact paths, as for endpoints; METHODS makes every other method 405, not only those that the router knows.
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  router.get('/v1/openapi.json', (ctx) => {
    ctx.state.operation = 'openapi'
    const { section } = ctx.state
    if (!section) throw errors.addressUnknown()
    ctx.type = JSON_TYPE
    ctx.body = textOf(section)
  })
  const step = routed(router)
  return (ctx, next) => (ctx.state.route ? next() : step(ctx, next))
}
