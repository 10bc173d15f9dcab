import type { Database } from '../../../prisma/client.ts'
import { json, statement, text } from '../../../prisma/pg/statement.ts'
import { logoVersions } from '../../../routers/developer/apps/logo.ts'
import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import type { AppView } from '../../browser/pages/views.ts'
import { documentView } from './document-clients.ts'

interface ShownClient {
  name: string
  /** What each scope of a production client is for. */
  purpose?: Record<string, string> | null
  app: { id: string; name: string; homepage: string | null; description?: string | null } | null
  team: { name: string } | null
}

const showing = (more: string, moreOfApp: string) => `json_build_object('name', client.name, ${more}
    'app', (SELECT json_build_object('id', id, 'name', name, ${moreOfApp} 'homepage', homepage) FROM "App" WHERE id = client."appId"),
    'team', (SELECT json_build_object('name', name) FROM "Team" WHERE id = client."teamId")) AS client`

/** What pages show of a "Client" `client`, without the icon's bytes, which its address serves. */
export const SHOWN = showing('', '')
export const shown = { client: json<ShownClient>() }

const parameters = { client: text }
const statements = {
  find: statement('shown_client', `SELECT ${SHOWN} FROM "Client" client WHERE id = $client`, parameters, shown),
  findAsking: statement(
    'asking_client',
    `SELECT ${showing(`'purpose', client.purpose,`, `'description', description,`)} FROM "Client" client WHERE id = $client`,
    parameters,
    shown,
  ),
}

/** The names that members see: the app's, or else the client's, and the team's. */
export async function appViews(db: Database, clients: readonly ShownClient[]): Promise<AppView[]> {
  const apps = [...new Set(clients.flatMap(({ app }) => app?.id ?? []))]
  const versions = await logoVersions(db, apps)
  return clients.map(({ name, purpose, app, team }) => {
    if (app && isDocumentAddress(app.id)) return documentView(app.id, name)
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

export const findApp = (db: Database, client: string) => view(db, statements.find, client)

/** With its description and purposes, for the page that asks a member. */
export const findAskingApp = (db: Database, client: string) => view(db, statements.findAsking, client)

async function view(db: Database, find: typeof statements.find, client: string): Promise<AppView | null> {
  const [found] = await db.execute(find, { client })
  if (!found) return isDocumentAddress(client) ? documentView(client) : null
  return (await appViews(db, [found.client]))[0]!
}
