import type { Database } from '../../../prisma/client.ts'
import { json, statement, text } from '../../../prisma/pg/statement.ts'
import { logoVersions } from '../../../routers/developer/apps/logo.ts'
import type { AppView } from '../../browser/pages/views.ts'

interface ShownClient {
  name: string
  /** What each scope of a production client is for. */
  purpose?: Record<string, string> | null
  app: { id: string; name: string; homepage: string | null; description: string | null } | null
  team: { name: string } | null
}

/** What pages show of a "Client" `client`, without the icon's bytes, which its address serves. */
export const SHOWN = `json_build_object('name', client.name, 'purpose', client.purpose,
    'app', (SELECT json_build_object('id', id, 'name', name, 'homepage', homepage, 'description', description) FROM "App" WHERE id = client."appId"),
    'team', (SELECT json_build_object('name', name) FROM "Team" WHERE id = client."teamId")) AS client`
export const shown = { client: json<ShownClient>() }

const find = statement(
  'shown_client',
  `SELECT ${SHOWN} FROM "Client" client WHERE id = $client`,
  { client: text },
  shown,
)

/** The names that members see: the app's, or else the client's, and the team's. */
export async function appViews(db: Database, clients: readonly ShownClient[]): Promise<AppView[]> {
  const apps = [...new Set(clients.flatMap(({ app }) => app?.id ?? []))]
  const versions = await logoVersions(db, apps)
  return clients.map(({ name, purpose, app, team }) => {
    const version = app && versions.get(app.id)
    return {
      name: app?.name ?? name,
      team: team?.name ?? '',
      homepage: app?.homepage ?? null,
      description: app?.description ?? null,
      purposes: purpose ?? {},
      icon: version ? `${encodeURIComponent(app.id)}/${version}` : null,
    }
  })
}

export async function findApp(db: Database, clientId: string): Promise<AppView | null> {
  const [found] = await db.execute(find, { client: clientId })
  return found ? (await appViews(db, [found.client]))[0]! : null
}
