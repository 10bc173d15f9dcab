import { randomUUID } from 'node:crypto'
import type { CryptoKey } from 'jose'
import { SignJWT } from 'jose'
import type { Principal } from '../../routers/kernel/access.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { expectDocumented } from './documented.ts'
import type { Call, Reply } from './request.ts'
import type { Ids } from './tenant.ts'

/** A service that trusts a key of ours. */
interface Service {
  ids: Ids
  issuer: { issuer: string; audience: string | string[]; key: CryptoKey; kid: string }
  brand: string
  /** Unix milliseconds. */
  now: () => number
  /** To the public port. */
  send: (method: string, path: string, call: Call) => Promise<Reply>
}

/** By which tests know the hosts of the sections, of the authorization server, and the one at whose paths a trial has them all. */
export const hosts = {
  apps: 'apps.test',
  lms: 'lms.test',
  notify: 'notify.test',
  sync: 'sync.test',
  auth: 'auth.test',
  local: 'localhost:3000',
}
const allScopes = memberScopes.join(' ')
const sectionsByPath = {
  quizzes: 'lms',
  apps: 'notify',
  collections: 'sync',
  batch: 'sync',
  calendar: 'sync',
  'quiz-results': 'sync',
  events: 'sync',
  addresses: 'sync',
} as const
const firstSegment = (path: string) => path.split(/[/?]/)[1] as keyof typeof sectionsByPath
const sectionAt = (path: string): Section => sectionsByPath[firstSegment(path)] ?? 'apps'
/** The organisation whose members a path of `sync` is for, where that is no club. */
const organisationAt: Partial<Record<string, 'academy' | 'provider'>> = {
  quizzes: 'academy',
  'quiz-results': 'academy',
  events: 'provider',
  addresses: 'provider',
}
/** A call's token serves its next calls for this long: to sign and to verify one takes a tenth of a call. */
const TOKEN_MS = 60_000

/** The calls of a tenant's member through its client, unless a call says otherwise, and their tokens. */
export function tenantCalls({ ids, issuer, brand, now, send }: Service) {
  const organisations = { apps: ids.club, lms: ids.academy, notify: ids.provider, sync: ids.club }
  const token = (claims: Record<string, unknown> = {}, key: CryptoKey = issuer.key, header: object = {}) => {
    const seconds = Math.floor(now() / 1000)
    const payload = {
      sub: ids.member,
      organisation: ids.club,
      client_id: ids.client,
      scope: allScopes,
      iss: issuer.issuer,
      aud: issuer.audience,
      iat: seconds,
      exp: seconds + 3600,
      jti: randomUUID(),
      ...claims,
    }
    const usual = { alg: 'ES256', typ: 'at+jwt', kid: issuer.kid }
    return new SignJWT(payload).setProtectedHeader({ ...usual, ...header }).sign(key)
  }
  const tokens = new Map<string, { at: number; token: Promise<string> }>()
  const usualToken = (claims: Record<string, unknown>) => {
    // A claim that is undefined is left out, one that is missing has its default.
    const key = JSON.stringify(claims, (_, value) => (value === undefined ? '\0' : value))
    const known = tokens.get(key)
    if (known && known.at <= now() && now() < known.at + TOKEN_MS) return known.token
    const made = { at: now(), token: token(claims) }
    tokens.set(key, made)
    return made.token
  }

  return {
    token,
    /** A request to the public port: the path is that of its host, by default the member apps API's. It has no token. */
    send: (method: string, path: string, { host = hosts.apps, headers, ...call }: Call = {}) =>
      send(method, path, { ...call, headers: { host, ...headers } }),
    now: () => Math.floor(now() / 1000),
    principal: (claims: Partial<Principal> = {}): Principal => ({
      member: ids.member,
      organisation: ids.club,
      client: ids.client,
      scopes: new Set(memberScopes),
      ...claims,
    }),
    /** A REST request: the path is one below `/v1`. Its answer has to be as the documents say. */
    async call(method: string, path: string, call: Call = {}): Promise<Reply> {
      const api = call.api ?? sectionAt(path)
      const kind = organisationAt[firstSegment(path)]
      const organisation = kind ? ids[kind] : organisations[api]
      const bearer = call.token === undefined ? await usualToken({ organisation, ...call.claims }) : call.token
      const reply = await send(method, `/v1${path}`, {
        ...call,
        headers: {
          host: call.host ?? hosts[api],
          ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
          ...call.headers,
        },
      })
      if (!call.undocumented) expectDocumented(method, path, reply, brand)
      return reply
    },
  }
}
