import { z } from 'zod'
import { ClientAuthentication, IdTokenAlgorithm } from '../../../prisma/generated/enums.ts'
import { isPostgresText } from '../../kernel/access.ts'
import { MAX_EMAIL_LENGTH } from '../../kernel/email-address.ts'
import type { PlainError } from '../../kernel/errors.ts'
import { withError } from '../../kernel/errors.ts'
import { MAX_PURPOSE } from './purposes.ts'
import { MAX_NAME } from './registration.ts'

/** What a person types, without the white space around it, as the portal's forms send it. */
export const typed = z.string().trim()

/** As its rules refuse it with a sentence of their own, its bounds are metadata: for forms and the reference. */
export const nameInput = typed.meta({ minLength: 1, maxLength: MAX_NAME })
export const emailInput = typed.meta({ minLength: 1, maxLength: MAX_EMAIL_LENGTH, format: 'email' })

/** An id in the input; one that cannot be stored is reported as unknown. */
export const idOr = (unknown: PlainError) =>
  z.string(withError(unknown)).trim().refine(isPostgresText, withError(unknown))

export const role = z.enum(['owner', 'developer'], { error: 'role is owner or developer.' })
export const MAX_LISTED = 50
export const texts = z.array(typed).max(MAX_LISTED, { error: `There are at most ${MAX_LISTED}.` })
export const purpose = z
  .record(typed, typed.meta({ maxLength: MAX_PURPOSE }))
  .meta({ description: 'What each scope is for, by scope' })

const time = z.int().meta({ description: 'Unix seconds' })

export const devices = z
  .boolean()
  .meta({ description: 'Whether it may ask for sign-ins on devices without a browser (RFC 8628)' })

export const more = z.boolean().meta({ description: 'Whether there are more' })

export const named = z.object({ id: z.string(), name: z.string() })

const endsAt = z
  .int()
  .nullable()
  .meta({ description: 'When it is removed, in Unix seconds; null unless it was deleted' })

export const teamSummary = z.object({
  id: z.string(),
  name: z.string(),
  level: z.enum(['hobby', 'developer']),
  role,
  endsAt,
})

export const personOutput = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role,
  since: time,
})

export const invitationOutput = z.object({
  id: z.string(),
  email: z.string(),
  role,
  invitedBy: z.string().nullable().meta({ description: 'Name of the person; null for the operator' }),
  expiresAt: time,
})

const wantedOfApp = z.object({
  name: z.string().optional(),
  description: z.string().optional(),
  homepage: z.string().optional(),
  logo: z.string().optional(),
})

const wantedOfClient = z.object({
  name: z.string().optional(),
  redirectUris: z.array(z.string()).optional(),
  devices: z.boolean().optional(),
  scopes: z.array(z.string()).optional(),
  purpose: z.record(z.string(), z.string()).optional(),
})

export const idTokenAlgorithm = z
  .enum(IdTokenAlgorithm, { error: 'idTokenAlgorithm is ES256 or RS256.' })
  .meta({ description: 'How its ID tokens are signed' })

const refusalSchema = <Asked extends z.ZodType>(asked: Asked) =>
  z
    .object({ reason: z.string(), at: time, asked })
    .nullable()
    .meta({ description: 'The last refusal, until something is changed or asked for again' })

export const appOutput = z.object({
  id: z.string(),
  name: z.string(),
  team: z.string(),
  provider: z.object({ id: z.string(), name: z.string() }),
  state: z.enum(['active', 'suspended']),
  endsAt,
  description: z.string().nullable(),
  homepage: z.string().nullable(),
  logo: z.string().nullable().meta({ description: "The MD5 of the logo, the last part of the logo's address" }),
  version: z.int(),
  wanted: wantedOfApp.nullable().meta({ description: 'Changes pending approval; the current values apply until then' }),
  refusal: refusalSchema(wantedOfApp),
})

export const appSummary = appOutput.pick({ id: true, name: true, state: true, endsAt: true })

export const clientOutput = z.object({
  id: z.string(),
  name: z.string(),
  team: z.string(),
  app: z.string().nullable(),
  environment: z.enum(['production', 'sandbox']),
  type: z.enum(['web', 'native']),
  state: z.enum(['active', 'requested', 'refused']),
  testOnly: z.boolean().meta({ description: 'Only the people in the team and its test members can sign in' }),
  redirectUris: z.array(z.string()),
  devices: z.boolean().meta({ description: 'It may ask for sign-ins on devices, and then needs no redirect URI' }),
  postLogoutRedirectUris: z.array(z.string()).meta({ description: 'Where a sign-out may return to' }),
  scopes: z.array(z.string()),
  idTokenAlgorithm,
  purpose: z.record(z.string(), z.string()).nullable().meta({ description: 'What each scope is for' }),
  requestedAt: time.nullable(),
  wanted: wantedOfClient
    .nullable()
    .meta({ description: 'Changes pending approval; the current values apply until then' }),
  refusal: refusalSchema(wantedOfClient),
  authentication: z.enum(ClientAuthentication).meta({ description: 'How it authenticates at the token endpoint' }),
  keys: z
    .array(z.record(z.string(), z.string()))
    .nullable()
    .meta({ description: 'The public keys of its assertions, as JWKs' }),
  version: z.int(),
  consents: z.int().meta({ description: 'Consents in force, one a sign-in' }),
})

export const secretOutput = z.object({
  id: z.string(),
  createdAt: time,
  expiresAt: time,
  lastUsedAt: time.nullable().meta({ description: 'At most an hour early; null before its first use' }),
})

export const clientSummary = clientOutput.pick({
  id: true,
  name: true,
  app: true,
  environment: true,
  type: true,
  state: true,
})

export const testMember = named

const values = z.record(z.string(), z.unknown()).nullable()

export const auditOutput = z.object({
  id: z.string(),
  at: time,
  by: z
    .object({
      id: z.string().meta({ description: 'Empty once the person is erased' }),
      name: z.string().nullable().meta({ description: 'Null once the person is erased' }),
    })
    .nullable()
    .meta({ description: 'Null for the operator, a client, a club, and a person who has declined an invitation' }),
  client: z
    .object({ id: z.string(), name: z.string().nullable().meta({ description: 'Null once it is removed' }) })
    .nullable()
    .meta({ description: 'The client that has made the change for its app' }),
  action: z.string().meta({ examples: ['client.update'] }),
  target: z.string().meta({ description: 'The id of what was changed; empty for a person who was erased' }),
  targetName: z
    .string()
    .nullable()
    .meta({ description: 'Null for a target that is no longer in the team, or has no name' }),
  before: values,
  after: values,
})
