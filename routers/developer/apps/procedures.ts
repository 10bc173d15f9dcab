import { z } from 'zod'
import { parseUrl } from '../../../prisma/parse-url.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { textFault } from '../../kernel/text-input.ts'
import { router } from '../../kernel/trpc.ts'
import { refuseGrowth } from '../access/bounds.ts'
import { lockTeamAs, roleIn, teamOfApp } from '../access/roles.ts'
import { health } from '../activity/health.ts'
import { auditing, difference, toAuthor } from '../audit/record.ts'
import { appImpact, removeApp, restoreApp } from '../deletion/app.ts'
import { appNeedsReview, changeApp } from '../reviews/app-changes.ts'
import { changesColumns, queueIfRequested } from '../reviews/stored.ts'
import { appColumns, nullIfEmpty, toApp } from '../shared/mappers.ts'
import { newId } from '../shared/names.ts'
import { nameFaults } from '../shared/registration.ts'
import { appOutput, idOr, nameInput, typed } from '../shared/schemas.ts'
import type { Fault } from '../shared/validation.ts'
import { fault, refuseIf, textFaults } from '../shared/validation.ts'
import { clubs } from './clubs.ts'
import { getApp, listApps, providers } from './list.ts'
import { logoVersions, removeLogo, setLogo } from './logo.ts'
import { withdrawChanges } from './withdraw.ts'

const MAX_APPS = 50
const MAX_DESCRIPTION = 500
const MAX_HOMEPAGE = 2048

const create = internal('dev:write', teamPeople, {
  summary: 'Adds an app to a team',
  fails: ['teamUnknown', 'providerUnknown', 'tooManyApps'],
})
  .input(z.object({ team: idOr('teamUnknown'), name: nameInput, provider: idOr('providerUnknown') }))
  .output(appOutput)
  .mutation(async ({ ctx, input: { team, name, provider } }) => {
    await roleIn(ctx, team)
    refuseIf(nameFaults('app', { name }))
    return auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team })
      if ((await tx.app.count({ where: { teamId: team } })) >= MAX_APPS) throw errors.tooManyApps()
      const found = await tx.organisation.findUnique({ where: { id: provider, kind: 'provider', testTeamId: null } })
      if (!found) throw errors.providerUnknown()
      const data = { id: newId('a'), name, teamId: team, providerId: provider }
      const app = await tx.app.create({ data, select: appColumns })
      await note({ team, action: 'app.create', target: app.id, after: { name, provider } })
      return toApp(app, null)
    })
  })

/** Texts that members read wait for approval: `wanted`. `''` removes a description or homepage. */
const update = internal('dev:write', teamPeople, {
  summary: 'Changes the name and description of an app',
  fails: ['ownAppUnknown', 'changedMeanwhile', 'teamFull'],
})
  .input(
    z.object({
      app: idOr('ownAppUnknown'),
      version: z.int().optional().meta({ description: 'The version that was read; any other is 409' }),
      name: nameInput.optional(),
      description: typed.optional(),
      homepage: typed.meta({ maxLength: MAX_HOMEPAGE, format: 'uri' }).optional(),
    }),
  )
  .output(appOutput)
  .mutation(async ({ ctx, input: { app, version, ...requested } }) => {
    const team = await teamOfApp(ctx, app)
    refuseIf([
      ...nameFaults('app', { name: requested.name }),
      ...(requested.description ? descriptionFaults(requested.description) : []),
      ...(requested.homepage ? homepageFaults(requested.homepage) : []),
    ])
    const logo = (await logoVersions(ctx.core.db, [app])).get(app) ?? null
    const author = toAuthor(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.ownAppUnknown })
      const before = toApp(await tx.app.findUniqueOrThrow({ where: { id: app }, select: appColumns }), logo)
      if (version !== undefined && version !== before.version) throw errors.changedMeanwhile()
      const { now, wanted } = changeApp(before, requested, await appNeedsReview(tx, app))
      const differing = difference(before, { ...before, ...now, wanted: nullIfEmpty(wanted) })
      if (!differing) return before
      const changed = await tx.app.update({
        where: { id: app },
        data: { ...now, ...changesColumns({ wanted }) },
        select: appColumns,
      })
      await refuseGrowth(tx, team, before, toApp(changed, logo))
      await note({ team, action: 'app.update', target: app, ...differing })
      await queueIfRequested(tx, { team, at: author.at }, { before, after: changed }, { name: changed.name, app })
      return toApp(changed, logo)
    })
  })

const descriptionFaults = (text: string) =>
  textFaults(
    'description',
    ['description', 'app'],
    textFault(text, MAX_DESCRIPTION),
    fault('description', 'description'),
  )

function homepageFaults(text: string): Fault[] {
  const wrong = [fault('homepage', 'homepage')]
  if (text.length > MAX_HOMEPAGE || !/^https:\/\/[^/?#]/i.test(text)) return wrong
  if (!/^[\x21-\x7e]+$/.test(text)) return [fault('homepage', 'homepageCharacters')]
  const url = parseUrl(text)
  if (!url) return wrong
  const { username, password } = url
  return username === '' && password === '' ? [] : wrong
}

export const apps = router({
  list: listApps,
  get: getApp,
  clubs,
  health,
  impact: appImpact,
  remove: removeApp,
  restore: restoreApp,
  providers,
  create,
  update,
  setLogo,
  removeLogo,
  withdrawChanges,
})
