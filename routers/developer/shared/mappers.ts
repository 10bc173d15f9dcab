import { DbNull } from '@prisma/client-runtime-utils'
import type { Prisma } from '../../../prisma/generated/client.ts'
import { CONSENT_MS } from '../../kernel/access.ts'
import { fullName } from '../../kernel/labels.ts'
import { toUnix } from '../../kernel/time.ts'
import type { KeySet } from './public-keys.ts'

export const clientColumns = (now: number) =>
  ({
    id: true,
    name: true,
    teamId: true,
    appId: true,
    environment: true,
    type: true,
    state: true,
    testOnly: true,
    redirectUris: true,
    devices: true,
    postLogoutRedirectUris: true,
    scopes: true,
    idTokenAlgorithm: true,
    purpose: true,
    requestedAt: true,
    refusal: true,
    wanted: true,
    version: true,
    authentication: true,
    jwks: true,
    _count: { select: { consents: { where: { withdrawnAt: null, createdAt: { gt: new Date(now - CONSENT_MS) } } } } },
  }) satisfies Prisma.ClientSelect

export type ClientRow = Prisma.ClientGetPayload<{ select: ReturnType<typeof clientColumns> }>

export interface WantedOfClient {
  name?: string
  /** Includes those already in force. */
  redirectUris?: string[]
  /** Sign-in on devices; only ever true. */
  devices?: boolean
  scopes?: string[]
  purpose?: Record<string, string>
}
export interface WantedOfApp {
  name?: string
  description?: string
  homepage?: string
  /** The version of the logo; its bytes are in `wantedLogo`. */
  logo?: string
}
/** Why the operator did not approve; `asked` is empty for a new client, which has what was asked for. */
export interface Refusal<Asked> {
  reason: string
  /** Unix seconds. */
  at: number
  asked: Asked
}
export type Purpose = Record<string, string>

type Requested = Pick<ClientRow, 'state' | 'requestedAt'>

export const toState = ({ state, requestedAt }: Requested): 'active' | 'requested' | 'refused' =>
  state === 'requested' && requestedAt === null ? 'refused' : state

export const toClient = ({
  teamId,
  appId,
  requestedAt,
  purpose,
  wanted,
  refusal,
  jwks,
  _count,
  ...row
}: ClientRow) => ({
  ...row,
  keys: (jwks as KeySet | null)?.keys ?? null,
  state: toState({ ...row, requestedAt }),
  team: teamId ?? '',
  app: appId,
  purpose: purpose as Purpose | null,
  requestedAt: requestedAt && toUnix(requestedAt),
  wanted: wanted as WantedOfClient | null,
  refusal: refusal as unknown as Refusal<WantedOfClient> | null,
  consents: _count.consents,
})

export const appColumns = {
  id: true,
  name: true,
  teamId: true,
  state: true,
  endsAt: true,
  description: true,
  homepage: true,
  wanted: true,
  refusal: true,
  version: true,
  provider: { select: { id: true, name: true } },
} satisfies Prisma.AppSelect

export type AppRow = Prisma.AppGetPayload<{ select: typeof appColumns }>

/** The app of a document's host, whose provider is null, is of a team without people, who alone see it. */
export const toApp = ({ teamId, endsAt, wanted, refusal, provider, ...row }: AppRow, logo: string | null) => ({
  ...row,
  provider: provider!,
  team: teamId,
  endsAt: endsAt && toUnix(endsAt),
  logo,
  wanted: wanted as WantedOfApp | null,
  refusal: refusal as unknown as Refusal<WantedOfApp> | null,
})

export const memberColumns = {
  role: true,
  since: true,
  person: { select: { id: true, firstName: true, lastName: true, email: true } },
} satisfies Prisma.TeamMemberSelect

type MemberRow = Prisma.TeamMemberGetPayload<{ select: typeof memberColumns }>

export const toPerson = ({ role, since, person }: MemberRow) => ({
  id: person.id,
  name: fullName(person),
  email: person.email,
  role,
  since: toUnix(since),
})

export const byName = [{ name: 'asc' as const }, { id: 'asc' as const }]

export const nullIfEmpty = <T extends object>(value: T) => (Object.keys(value).length === 0 ? null : value)

export const objectOrNull = (value: object) => (nullIfEmpty(value) as Prisma.InputJsonObject | null) ?? DbNull
