import type { Prisma } from './generated/client.ts'

/** The scopes open to a team of a level. A parameter, because the registry of scopes is in routers/. */
export type ScopesAt = (level: 'hobby' | 'developer') => readonly string[]

/** The demo's teams, their apps, and the apps' clients. */
export const clients = (scopesAt: ScopesAt) =>
  ({
    team: [
      { id: 'hobbyists', name: 'Feierabend Apps', level: 'hobby' as const },
      { id: 'builders', name: 'Builders GmbH', level: 'developer' as const },
    ],
    app: [
      { id: 'trainer-app', name: 'Trainer', teamId: 'builders', providerId: 'provider' },
      { id: 'suspended-app', name: 'Scores', teamId: 'builders', providerId: 'provider', state: 'suspended' as const },
      { id: 'hobby-app', name: 'Kuchenliste', teamId: 'hobbyists', providerId: 'provider' },
      { id: 'foreign-app', name: 'Clubhouse', teamId: 'builders', providerId: 'other-provider' },
      { id: 'example-app', name: 'Clubnote', teamId: 'builders', providerId: 'provider' },
    ],
    client: [
      client('trainer-app', 'builders', 'trainer-app', scopesAt('developer')),
      {
        ...client('trainer-app-sandbox', 'builders', 'trainer-app', scopesAt('developer')),
        environment: 'sandbox' as const,
      },
      client('hobby-app', 'hobbyists', 'hobby-app', scopesAt('hobby')),
      client('no-app', 'builders', null, scopesAt('developer')),
      {
        ...client('example-app', 'builders', 'example-app', scopesAt('hobby')),
        name: 'Clubnote',
        redirectUris: ['http://example.localhost:3000/'],
      },
      { ...client('platform', null, null, []), name: 'The platform itself' },
    ],
  }) satisfies {
    team: Prisma.TeamCreateManyInput[]
    app: Prisma.AppCreateManyInput[]
    client: Prisma.ClientCreateManyInput[]
  }

function client(id: string, teamId: string | null, appId: string | null, scopes: readonly string[]) {
  return { id, name: id, teamId, appId, environment: 'production' as const, scopes: [...scopes] }
}
