import { demoLogo } from './demo-logos.ts'
import type { Prisma } from './generated/client.ts'

/** A parameter, because the registry of scopes is in routers/. */
export type ScopesAt = (level: 'hobby' | 'developer') => readonly string[]

export const clients = (scopesAt: ScopesAt) =>
  ({
    team: [
      { id: 'hobbyists', name: 'Feierabend Apps', level: 'hobby' as const },
      { id: 'builders', name: 'Builders GmbH', level: 'developer' as const },
    ],
    teamMember: [
      { teamId: 'builders', personId: 'anna', role: 'owner' as const },
      { teamId: 'builders', personId: 'ben', role: 'developer' as const },
      { teamId: 'hobbyists', personId: 'ben', role: 'owner' as const },
    ],
    app: [
      {
        ...{ id: 'trainer-app', name: 'Trainer', teamId: 'builders', providerId: 'provider' },
        ...{ homepage: 'https://trainer.example.org/', logo: demoLogo('trainer') },
      },
      { id: 'suspended-app', name: 'Scores', teamId: 'builders', providerId: 'provider', state: 'suspended' as const },
      {
        ...{ id: 'hobby-app', name: 'Kuchenliste', teamId: 'hobbyists', providerId: 'provider' },
        ...{ homepage: 'https://kuchenliste.example.org/', logo: demoLogo('cakes') },
      },
      { id: 'foreign-app', name: 'Clubhouse', teamId: 'builders', providerId: 'other-provider' },
      {
        ...{ id: 'example-app', name: 'Clubnote', teamId: 'builders', providerId: 'provider' },
        ...{ homepage: 'https://clubnote.example.org/', logo: demoLogo('clubnote') },
      },
      { id: 'reference-app', name: 'API reference', teamId: 'builders', providerId: 'provider' },
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
      { ...client('reference', 'builders', 'reference-app', scopesAt('developer')), name: 'API reference' },
      { ...client('platform', null, null, []), name: 'The platform itself' },
    ],
  }) satisfies {
    team: Prisma.TeamCreateManyInput[]
    teamMember: Prisma.TeamMemberCreateManyInput[]
    app: Prisma.AppCreateManyInput[]
    client: Prisma.ClientCreateManyInput[]
  }

function client(id: string, teamId: string | null, appId: string | null, scopes: readonly string[]) {
  return { id, name: id, teamId, appId, environment: 'production' as const, scopes: [...scopes] }
}
