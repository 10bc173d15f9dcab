import { once } from 'node:events'
import { initTRPC } from '@trpc/server'
import Koa from 'koa'
import pino from 'pino'
import { Histogram, Registry } from 'prom-client'
import { z } from 'zod'
import type { Tenant } from '../routes/route.ts'
import { findRoute, pool } from './bare-route.ts'
import { verifiedTenant } from './token.ts'

/** The bare handlers within the service's packages, each used as documented, to measure these packages' own cost. */
const { bare, method } = findRoute('GET', '/')
const { procedure, router, createCallerFactory } = initTRPC.context<{ tenant: Tenant }>().create()
const input = z.object({ path: z.string().max(2_000), body: z.string() })
const callerFor = createCallerFactory(
  router({
    answer: procedure
      .input(input)
      .output(z.string())
      .mutation(({ ctx: { tenant }, input: { path, body } }) => bare(pool, tenant, path, body)),
  }),
)
const log = pino(pino.destination({ sync: false, minLength: 4096 }))
const duration = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'How long requests took.',
  labelNames: ['method', 'status'],
  registers: [new Registry()],
})

const app = new Koa()
// The bench's first request has no token.
app.silent = true
app.use(async (ctx, next) => {
  const start = performance.now()
  await next()
  const ms = performance.now() - start
  duration.observe({ method: ctx.method, status: ctx.status }, ms / 1000)
  log.info({ method: ctx.method, path: ctx.path, status: ctx.status, ms })
})
app.use(async (ctx) => {
  let body = ''
  if (method !== 'GET') {
    ctx.req.setEncoding('utf8').on('data', (chunk) => (body += chunk))
    await once(ctx.req, 'end')
  }
  const tenant = await verifiedTenant(ctx.get('authorization'))
  ctx.body = await callerFor({ tenant }).answer({ path: ctx.url, body })
  ctx.type = 'application/json; charset=utf-8'
})
app.listen(Number(process.env.PORT))
