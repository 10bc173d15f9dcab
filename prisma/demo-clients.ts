import type { Prisma } from './generated/client.ts'

/** What an app can ask for, and what one of a hobby team can. */
const hobbyScopes = [
  'svc.me.profile:read',
  'svc.me.groups:read',
  'svc.me.events:read',
  'svc.me.trainingplans:read',
  'svc.me.competitions:read',
  'svc.me.membercard:read',
  'svc.apps.storage:read',
  'svc.apps.storage:write',
]
const allScopes = [...hobbyScopes, 'lms.me.quizzes:write', 'ntf.apps.webhook:update', 'ntf.apps.webhook:read']

/** The demo's teams, their apps, and the clients of these. */
export const clients = {
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
    client('trainer-app', 'builders', 'trainer-app', allScopes),
    { ...client('trainer-app-sandbox', 'builders', 'trainer-app', allScopes), environment: 'sandbox' as const },
    client('hobby-app', 'hobbyists', 'hobby-app', hobbyScopes),
    client('no-app', 'builders', null, allScopes),
    {
      ...client('example-app', 'builders', 'example-app', hobbyScopes),
      name: 'Clubnote',
      redirectUris: ['http://example.localhost:3000/'],
    },
    { ...client('platform', null, null, []), name: 'The platform itself' },
  ],
} satisfies {
  team: Prisma.TeamCreateManyInput[]
  app: Prisma.AppCreateManyInput[]
  client: Prisma.ClientCreateManyInput[]
}

function client(id: string, teamId: string | null, appId: string | null, scopes: string[]) {
  return { id, name: id, teamId, appId, environment: 'production' as const, scopes }
}
