import type { Prisma } from './generated/client.ts'

/** PNGs of 96 × 96 pixels in 16 colours, as base64, for the apps of the demo data. */
const pictures = {
  trainer:
    'iVBORw0KGgoAAAANSUhEUgAAAGAAAABgBAMAAAAQtmoLAAAAMFBMVEUPdm4ff3gviIE/kYtPm5VfpJ5vrah/trKPv7ufyMWv0c+/2tjP5OLf7ezv' +
    '9vX///+FEZ0AAAACIklEQVR42u1XPUsDQRDdxPiBn6msDwtLtREbNfkHBuwEUX+Bgp2N9oLxH2gjllraKVjLIWInKNrYKYmaEC95une5vd3L7Reo' +
    'INyrbi/7bmZn3sxOCEmR4vcAhpTwg4Q2xzoVf0mY2bQj9ACrVoR1oGpD6AFQU2/PbVHCcZEZ0BCWXoK0tY5CA0qXsntRpp8dQgr0QXHoTBkc6nmy' +
    'DeBDYWAZAm59gsJAP2I4LCgNZO/jhOa40sB8sOtskZDp3eD5SSWMLj+g3lqwGnX94E4pTjzh7y+yBPqMRwXBP8FGtO71T6EJ0Q3/Zs4PlJSwAuAz' +
    'L6TxHMC7NMnUo1Px3QD1KS8h9MV/HGt/ZEdCmIzJchaXgfYqEkJZDFHmHl4QqLqE8AK6g2HoO0AOIS7QSt7fDeCNW58HhAUAJWkWLsQlNTgozcSw' +
    'KPwDKrx2iT4kEqjtPN+MAKq7TMzTCNvAp5j1t/AsyU3jhI9fDuysZaCRSHB51RSi0l8Roy1ouypU0j7jNmXt8TV8prEM/RiRtX6eMMnp1pTA3DAi' +
    'DALXWoJwaNeb4gLW1Ic16/Ap9PSJE8ukYSANQeY1A/FFhScV33ByX5fLO1ZAfNIPjUqU87Rk1ASiaLfM2kzUj+uGjYwVRsW0VRJNq7Ruxtbt3v5C' +
    'sb6y7C9F62s38WJXjkoJo4OjHsY6hxPdtNcx/ujQMWBpER/hDCAOiSbIbV0Bd8fF9P9jiv+NL1FR3XIZGfjFAAAAAElFTkSuQmCC',
  clubnote:
    'iVBORw0KGgoAAAANSUhEUgAAAGAAAABgBAMAAAAQtmoLAAAAMFBMVEU7TMpIWM5VZNFicNVvfNh8iNyJlN+WoOOkq+axt+q+w+3Lz/HY2/Tl5/jy' +
    '8/v///9W4hIIAAAAXklEQVR42u2Wqw0AMQzFusGt3BEy6sEGtbjggKUD/dgwkkn0gEsRkWPpHygorCm88+m5QnAabsktbbKli4Q/3ppUCCgkzZ+A' +
    'QtLACigkTbiAQqORWKHQaIZW21zkcAZd/1ezJMWvmgAAAABJRU5ErkJggg==',
  cakes:
    'iVBORw0KGgoAAAANSUhEUgAAAGAAAABgBAMAAAAQtmoLAAAAMFBMVEWwKli1OGO7Rm7AVXnFY4XKcZDQf5vVjabanLHfqrzluMfqxtLv1N704+n6' +
    '8fT///9NaLSKAAAAoklEQVR42u3TwQmDQBCFYaOEeBBswaNYTRoQWwlpwJbswFI2l9yCLyTedBnnHQIR33+eDxx3N0mUOmz1+Loz8+cATFcCdADw' +
    '9M+n4QOmyg1yfLu5QTGDwQ3KGTx+B+hPopemfyt9cPzVoC+fs0vAIns+G0GBUw8OtOBAAw6sF7ZBZGETxBY2QQsONOBAfOHtk/6fYCQgsPPrrQck' +
    'oBenlDp2bxZq6+jlsDjZAAAAAElFTkSuQmCC',
}

const demoLogo = (name: keyof typeof pictures) => new Uint8Array(Buffer.from(pictures[name], 'base64'))

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
        id: 'trainer-app',
        name: 'Trainer',
        teamId: 'builders',
        providerId: 'provider',
        homepage: 'https://trainer.example.org/',
        logo: demoLogo('trainer'),
      },
      { id: 'suspended-app', name: 'Scores', teamId: 'builders', providerId: 'provider', state: 'suspended' as const },
      {
        id: 'hobby-app',
        name: 'Kuchenliste',
        teamId: 'hobbyists',
        providerId: 'provider',
        homepage: 'https://kuchenliste.example.org/',
        logo: demoLogo('cakes'),
      },
      { id: 'foreign-app', name: 'Clubhouse', teamId: 'builders', providerId: 'other-provider' },
      {
        id: 'example-app',
        name: 'Clubnote',
        teamId: 'builders',
        providerId: 'provider',
        homepage: 'https://clubnote.example.org/',
        logo: demoLogo('clubnote'),
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
        postLogoutRedirectUris: ['http://example.localhost:3000/'],
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
