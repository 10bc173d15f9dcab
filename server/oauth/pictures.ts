import type Router from '@koa/router'
import { isPostgresText } from '../../routers/access.ts'
import { errors } from '../../routers/errors.ts'
import type { State, StepContext } from '../http/state.ts'
import { brandOf } from '../pages/brand.ts'
import { iconBytes } from './app-views.ts'
import type { PageOptions } from './page-options.ts'

const headers = {
  // An address names the version of its picture.
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // An SVG that is opened by itself is a document of our origin.
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

/** The pictures of the pages: the operator's logo, the apps' icons. */
export function addPictures(router: Router<State>, { db, path }: Pick<PageOptions, 'db' | 'path'>) {
  const paramOf = (ctx: StepContext, name: string) =>
    String((ctx as { params?: Record<string, string> }).params?.[name])

  router.get(`${path}/logo/:version`, (ctx) => {
    const logo = brandOf(ctx)?.logo
    const version = paramOf(ctx, 'version')
    if (logo?.version !== version) throw errors.addressUnknown()
    send(ctx, logo.type, version, logo.bytes)
  })

  router.get(`${path}/icons/:app/:version`, async (ctx) => {
    const [app, version] = [paramOf(ctx, 'app'), paramOf(ctx, 'version')]
    const bytes = isPostgresText(app) && isPostgresText(version) ? await iconBytes(db, app, version) : undefined
    if (!bytes) throw errors.addressUnknown()
    send(ctx, 'image/png', version, bytes)
  })
}

function send(ctx: StepContext, type: string, version: string, bytes: Buffer) {
  ctx.set(headers)
  ctx.status = 200
  ctx.type = type
  ctx.etag = version
  if (ctx.fresh) ctx.status = 304
  else ctx.body = bytes
}
