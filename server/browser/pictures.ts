import type Router from '@koa/router'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../prisma/client.ts'
import { bytea, statement, text } from '../../prisma/pg/statement.ts'
import { isPostgresText } from '../../routers/kernel/access.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { toNetwork } from '../http/client-address.ts'
import { isRevalidated } from '../http/revalidation.ts'
import type { State, StepContext } from '../http/state.ts'
import type { Limits } from '../limits/limit.ts'
import { requestLimit } from '../limits/limit.ts'
import { readBrand } from './brand.ts'
import { sendMessage } from './page-responses.ts'

/** An address includes the version of its image. */
const CACHING = 'public, max-age=31536000, immutable'

const headers = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  // An SVG opened by itself is a document of this origin.
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
}

/** Icons per minute and network: 50 pages of consent or connected apps with a dozen each. Browsers cache them. */
export const MAX_ICONS = 600

interface Options {
  db: Database
  path: string
  limits: Limits
}

export function addPictures(router: Router<State>, { db, path, limits }: Options) {
  const isWithinLimit = requestLimit(limits, 'icons', MAX_ICONS)
  const findIcon = icons(db)
  const readParam = (ctx: StepContext, name: string) =>
    String((ctx as { params?: Record<string, string> }).params?.[name])

  router.get(`${path}/logo/:version`, (ctx) => {
    const logo = readBrand(ctx)?.logo
    const version = readParam(ctx, 'version')
    if (logo?.version !== version) throw errors.addressUnknown()
    send(ctx, logo.type, version, logo.bytes)
  })

  router.get(`${path}/icons/:app/:version`, async (ctx) => {
    const [app, version] = [readParam(ctx, 'app'), readParam(ctx, 'version')]
    if (!isPostgresText(app) || !/^[\da-f]{32}$/.test(version)) throw errors.addressUnknown()
    if (!(await isWithinLimit(toNetwork(ctx.state.clientAddress ?? '')))) {
      ctx.set('Retry-After', '60')
      return sendMessage(ctx, 'tooManyRequests', 429)
    }
    const bytes = await findIcon(app, version)
    if (!bytes) throw errors.addressUnknown()
    send(ctx, 'image/png', version, bytes)
  })
}

const findIcon = statement(
  'app_icon',
  `SELECT CASE WHEN md5(logo) = $version THEN logo ELSE "wantedLogo" END AS icon FROM "App"
    WHERE id = $app AND (md5(logo) = $version OR md5("wantedLogo") = $version)`,
  { app: text, version: text },
  { icon: bytea },
)

/** Checks the version first: otherwise 128 KiB would be read from the database each time. */
async function readIcon(db: Database, app: string, version: string): Promise<Buffer | null> {
  const [found] = await db.execute(findIcon, { app, version })
  return found?.icon ?? null
}

/** An app's icon in a version, in force or pending approval; null when it has no such version. Up to 4 s old. */
function icons(db: Database) {
  const cache = new LRUCache<string, { bytes: Buffer | null }>({
    maxSize: 8 * 1024 * 1024,
    sizeCalculation: ({ bytes }) => 100 + (bytes?.length ?? 0),
    ttl: 4_000,
    fetchMethod: async (key) => {
      const [app, version] = JSON.parse(key) as [string, string]
      return { bytes: await readIcon(db, app, version) }
    },
  })
  return async (app: string, version: string) => (await cache.fetch(JSON.stringify([app, version])))!.bytes
}

function send(ctx: StepContext, type: string, version: string, bytes: Buffer) {
  ctx.set(headers)
  if (isRevalidated(ctx, `"${version}"`, CACHING)) return
  ctx.type = type
  ctx.body = bytes
}
