import type { Database } from '../../prisma/client.ts'
import { isEmpty } from '../../prisma/seed.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { Config } from './config.ts'
import { hasSignIn, SIGN_IN_SETTINGS } from './warnings.ts'

/** An operator's next steps for a database without organisations, one sentence each; empty otherwise. */
export async function firstSteps(config: Config, db: Database): Promise<string[]> {
  if (!(await isEmpty(db))) return []
  const files = 'organisations.ndjson people.ndjson memberships.ndjson'
  const demo = config.production ? '' : ', or a demo club: npx member-apps seed'
  return [
    `Load the platform's data: npx member-apps import ${files}${demo}`,
    `Register a client: npx member-apps client add --id first-app --name "First app" --team first-team --team-name "First team" --level hobby --redirect https://app.example.org/ --scope "svc.me.profile:read"`,
    signIn(config),
  ]
}

function signIn(config: Config): string {
  const { tokenIssuer, authBaseUrl, developmentTokens } = config
  if (tokenIssuer !== undefined) return `Sign in a member at ${tokenIssuer}, which issues the tokens.`
  if (hasSignIn(config)) return `Sign in a member, without an app: ${toIssuer(authBaseUrl)}/connected`
  const token = 'npx member-apps token --member MEMBER --club CLUB --client first-app'
  return `Sign in a member: first set ${SIGN_IN_SETTINGS}${developmentTokens ? `; without that, a token: ${token}` : '.'}`
}
