import { ISSUER } from '../data/tokens.ts'
import type { BenchedRoute } from './route.ts'

const USERINFO = `SELECT person.id, "firstName", "lastName", email FROM "Person" person
  JOIN "Consent" consent ON "personId" = person.id AND "clientId" = $2 AND "organisationId" = $3 AND "withdrawnAt" IS NULL
  JOIN "Membership" membership ON membership."personId" = person.id AND membership."organisationId" = $3
  WHERE person.id = $1`

let document: string | undefined

/** Loaded here, as other rows' bare handlers would take longer to start. */
async function describe() {
  const { openApiDocument } = await import('../../rest-facade/openapi.ts')
  const described = {
    urls: ['http://apps.localhost/v1'] as const,
    host: 'apps.localhost',
    brand: 'the service',
    issuer: ISSUER,
  }
  return JSON.stringify(openApiDocument('apps', described))
}

/** What no procedure answers. */
export const publicRoutes: Record<string, BenchedRoute> = {
  userinfo: {
    // 60 a minute for each consent.
    target: 1.25,
    reached: 1.7,
    section: 'auth',
    share: 5,
    each: 1,
    method: 'GET',
    path: () => '/v1/oauth/userinfo',
    async bare(pool, { member, app, club }) {
      const { rows } = await pool.query({ name: 'userinfo', text: USERINFO, values: [member, app, club] })
      const { id: sub, firstName: given_name, lastName: family_name, email } = rows[0]
      return JSON.stringify({ sub, name: `${given_name} ${family_name}`, given_name, family_name, email })
    },
  },
  openapi: {
    method: 'GET',
    path: () => '/v1/openapi.json',
    masked: ['servers'],
    async bare() {
      document ??= await describe()
      return document
    },
  },
}
