import type { UserInfoResponse } from 'openid-client'
import * as openid from 'openid-client'
import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { comparableEmail } from './address.ts'
import type { Client } from './discovery.ts'
import { discovered } from './discovery.ts'
import type { Person } from './persons.ts'
import { membersWithEmail, memberWithId, named } from './persons.ts'

export interface Upstream {
  name: string
  /** Where the browser goes, and what has to be kept for its return, bound to the interaction and the browser. */
  begin(): Promise<{ url: string; kept: string }>
  /** Who came back; throws when anything does not fit. `email` only when the issuer has verified it. */
  finish(returned: URL, kept: string): Promise<{ issuer: string; subject: string; email: string | null }>
}

interface Settings extends Client {
  name: string
  redirectUri: string
}

const SCOPE = 'openid email'

const text = z.string().min(1)
const keptShape = z.object({ state: text, nonce: text, verifier: text })

/** Signing in at another OpenID provider. The provider may be away at the start: each sign-in asks again until it answers. */
export function createUpstream(settings: Settings, now: () => number): Upstream {
  const { name, redirectUri } = settings
  const configuration = discovered(settings, now)

  const upstream: Upstream = {
    name,
    async begin() {
      const config = await configuration()
      const kept = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      }
      const url = openid.buildAuthorizationUrl(config, {
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: kept.state,
        nonce: kept.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(kept.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, kept: JSON.stringify(kept) }
    },

    async finish(returned, kept) {
      const { state, nonce, verifier } = parseKept(kept)
      const config = await configuration()
      // Ours as it is registered: behind a proxy the address that came in may be another.
      const here = new URL(redirectUri)
      here.search = returned.search
      const tokens = await openid.authorizationCodeGrant(config, here, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const { iss: issuer, sub: subject, ...claims } = tokens.claims()!
      if (subject.length > 255 || subject.includes('\0')) throw new Error('The issuer gave a subject that is none')
      const asksFurther = claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined
      const about = asksFurther ? await openid.fetchUserInfo(config, tokens.access_token, subject) : claims
      return { issuer, subject, email: verifiedEmail(about) }
    },
  }
  const explain = (error: unknown) => {
    throw new Error(`Signing in at ${settings.issuer} failed: ${reasonsOf(error).join(': ')}`)
  }
  return {
    name,
    begin: () => upstream.begin().catch(explain),
    finish: (returned, kept) => upstream.finish(returned, kept).catch(explain),
  }
}

function parseKept(kept: string) {
  try {
    return keptShape.parse(JSON.parse(kept))
  } catch {
    // A parser's own words would quote the secrets in it.
    throw new Error('what was kept is not of this sign-in')
  }
}

/** What an error and its causes say; openid-client's own sentence is a general one. No values: codes may be among them. */
function reasonsOf(thrown: unknown): string[] {
  if (!(thrown instanceof Error)) return []
  const { message, cause, error } = thrown as Error & { error?: unknown }
  const answered = typeof error === 'string' && /^\w{1,40}$/.test(error) ? [error] : []
  return [message, ...answered, ...reasonsOf(cause)]
}

const verifiedEmail = ({ email, email_verified }: Partial<UserInfoResponse>) =>
  email_verified === true && typeof email === 'string' ? comparableEmail(email) : null

/** The members whom this sign-in stands for: the one who is remembered with it, else those with its verified address. */
export async function personsOf(
  db: Database,
  { issuer, subject, email }: { issuer: string; subject: string; email: string | null },
  now = Date.now(),
): Promise<Person[]> {
  const identity = await db.loginIdentity.findUnique({ where: { of: { issuer, subject } } })
  if (identity) return named(await memberWithId(db, identity.personId, now))
  const comparable = email === null ? null : comparableEmail(email)
  return comparable === null ? [] : named(await membersWithEmail(db, comparable, now))
}

/** From now on this sign-in stands for the person, whatever becomes of the address. The first who is remembered stays. */
export async function remember(db: Database, who: { issuer: string; subject: string }, person: string): Promise<void> {
  const { issuer, subject } = who
  await db.loginIdentity.createMany({ data: { issuer, subject, personId: person }, skipDuplicates: true })
}
