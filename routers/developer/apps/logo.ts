import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { statement, text, texts } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { refuseFull } from '../access/bounds.ts'
import type { Caller } from '../access/roles.ts'
import { lockTeamAs, teamOfApp } from '../access/roles.ts'
import { auditing, difference, toAuthor } from '../audit/record.ts'
import { MAX_PICTURE_BYTES, PictureRefused, pictureTooLarge } from '../pictures/reencode.ts'
import { reencodeInWorker } from '../pictures/worker-thread.ts'
import { appNeedsReview } from '../reviews/app-changes.ts'
import { changesColumns, queueIfRequested } from '../reviews/stored.ts'
import type { WantedOfApp } from '../shared/mappers.ts'
import { appColumns, nullIfEmpty, toApp } from '../shared/mappers.ts'
import { appOutput, idOr } from '../shared/schemas.ts'
import { formatSentence, refuseIf } from '../shared/validation.ts'

const logos = statement(
  'app_logos',
  `SELECT id, md5(logo) AS version FROM "App" WHERE id = ANY ($apps::text[]) AND logo IS NOT NULL`,
  { apps: texts },
  { id: text, version: text },
)

/** Logo versions by app; the bytes stay in the database. */
export async function logoVersions(db: Database, apps: readonly string[]): Promise<Map<string, string>> {
  const found = apps.length === 0 ? [] : await db.execute(logos, { apps })
  return new Map(found.map(({ id, version }) => [id, version]))
}

export const logoVersion = (logo: Uint8Array) => createHash('md5').update(logo).digest('hex')

const base64 = z
  .string({ error: 'picture is a PNG or JPEG in base64.' })
  .max(Math.ceil(MAX_PICTURE_BYTES / 3) * 4, { error: formatSentence(pictureTooLarge), abort: true })
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, { error: 'picture is a PNG or JPEG in base64.' })

const change = z.object({
  app: idOr('ownAppUnknown'),
  version: z.int().optional().meta({ description: 'The version that was read; any other is 409' }),
})

export const setLogo = internal('dev:write', teamPeople, {
  summary: 'Gives an app a logo: a square PNG or JPEG of at most 512 × 512 pixels and 128 KiB',
  fails: ['ownAppUnknown', 'changedMeanwhile', 'teamFull'],
})
  .input(change.extend({ picture: base64 }))
  .output(appOutput)
  .mutation(async ({ ctx, input: { picture, ...requested } }) => {
    const team = await teamOfApp(ctx, requested.app)
    // Checked before the picture is decoded, to save that work.
    const stored = await ctx.core.db.app.findUnique({ where: { id: requested.app }, select: { version: true } })
    if (!stored || stored.version !== (requested.version ?? stored.version)) throw errors.changedMeanwhile()
    await ctx.call.countPeople?.('picture', `person ${ctx.person}`)
    await ctx.call.countPeople?.('picture', `team ${team}`)
    return store(ctx, { team, ...requested }, await written(Buffer.from(picture, 'base64')))
  })

/** Removing a logo shows nothing new: it takes effect at once, and also removes a waiting one. */
export const removeLogo = internal('dev:write', teamPeople, {
  summary: 'Removes the logo of an app',
  fails: ['ownAppUnknown', 'changedMeanwhile'],
})
  .input(change)
  .output(appOutput)
  .mutation(async ({ ctx, input }) => store(ctx, { team: await teamOfApp(ctx, input.app), ...input }, null))

async function written(bytes: Buffer) {
  try {
    return await reencodeInWorker(bytes)
  } catch (thrown) {
    if (thrown instanceof PictureRefused) refuseIf([thrown.fault])
    throw thrown
  }
}

interface Requested {
  team: string
  app: string
  version?: number | undefined
}

const store = (ctx: Caller, { team, app, version }: Requested, picture: Uint8Array<ArrayBuffer> | null) => {
  const author = toAuthor(ctx)
  return auditing(ctx.core.db, author, async (tx, note) => {
    await lockTeamAs(tx, ctx, { team, unknown: errors.ownAppUnknown })
    const where = { id: app }
    const { logo, ...row } = await tx.app.findUniqueOrThrow({ where, select: { ...appColumns, logo: true } })
    if (version !== undefined && version !== row.version) throw errors.changedMeanwhile()
    const before = toApp(row, logo && logoVersion(logo))
    const named = picture && logoVersion(picture)
    const waits = named !== null && named !== before.logo && (await appNeedsReview(tx, app))
    const { logo: _, ...rest } = before.wanted ?? {}
    const wanted: WantedOfApp = waits ? { ...rest, logo: named } : rest
    const next = { ...before, logo: waits ? before.logo : named, wanted: nullIfEmpty(wanted) }
    const differing = difference(before, next)
    if (!differing) return before
    const changed = await tx.app.update({
      where,
      data: {
        ...(waits ? { wantedLogo: picture } : { logo: picture, wantedLogo: null }),
        ...changesColumns({ wanted }),
      },
      select: appColumns,
    })
    if (picture) await refuseFull(tx, team)
    await note({ team, action: 'app.update', target: app, ...differing })
    await queueIfRequested(tx, { team, at: author.at }, { before, after: changed }, { name: changed.name, app })
    return toApp(changed, next.logo)
  })
}
