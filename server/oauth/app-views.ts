import type { Database } from '../../prisma/client.ts'
import type { Prisma } from '../../prisma/generated/client.ts'
import { logoVersions } from '../../routers/clients/logo-versions.ts'
import type { AppView } from '../browser/pages/views.ts'

/** The fields that pages show of a client, without the icon's bytes, which its address serves. */
export const shownClient = {
  name: true,
  app: { select: { id: true, name: true, homepage: true } },
  team: { select: { name: true } },
} satisfies Prisma.ClientSelect
type ShownClient = Prisma.ClientGetPayload<{ select: typeof shownClient }>

/** The names that members see: the app's, or else the client's, and the team's. */
export async function appViews(db: Database, clients: readonly ShownClient[]): Promise<AppView[]> {
  const apps = [...new Set(clients.flatMap(({ app }) => app?.id ?? []))]
  const versions = await logoVersions(db, apps)
  return clients.map(({ name, app, team }) => {
    const version = app && versions.get(app.id)
    return {
      name: app?.name ?? name,
      team: team?.name ?? '',
      homepage: app?.homepage ?? null,
      icon: version ? `${encodeURIComponent(app.id)}/${version}` : null,
    }
  })
}

export async function appOf(db: Database, clientId: string): Promise<AppView | null> {
  const client = await db.client.findUnique({ where: { id: clientId }, select: shownClient })
  return client && (await appViews(db, [client]))[0]!
}
