import type { FieldFault, Rows } from '../error-row.ts'
import { withParameters } from '../error-row.ts'

const endingConsents = (consents: number) =>
  consents === 0 ? '' : `${consents} ${consents === 1 ? 'consent is' : 'consents are'} in force and would end. `

/** Apps and clients of a team, and what they show of them. */
export const developerErrors = {
  sinceInvalid: {
    status: 400,
    message: 'since must be Unix seconds.',
    place: 'tRPC',
    cause: 'since is not a whole number of seconds.',
    fix: 'Send seconds, not milliseconds.',
  },
  ownDeliveryUnknown: {
    status: 404,
    message: 'This delivery does not exist.',
    place: 'tRPC',
    cause: 'The delivery is unknown, belongs to another team, or was removed after its retention period.',
    fix: 'List the deliveries.',
  },
  ownAppUnknown: {
    status: 404,
    message: 'This app does not exist.',
    place: 'tRPC',
    cause: 'The app is unknown, or belongs to another team.',
    fix: "List the team's apps.",
  },
  clientUnknown: {
    status: 404,
    message: 'This client does not exist.',
    place: 'tRPC',
    cause: 'The client is unknown, or belongs to another team.',
    fix: "List the team's clients.",
  },
  clientSecretUnknown: {
    status: 404,
    message: 'This secret does not exist.',
    place: 'tRPC',
    cause: 'The secret was removed, or belongs to another client.',
    fix: 'Get the client, which lists its secrets.',
  },
  providerUnknown: {
    status: 404,
    message: 'This provider does not exist.',
    place: 'tRPC',
    cause: 'There is no provider with this id.',
    fix: 'Ask the operator for the id.',
  },
  /** One sentence per line, from the rules in routers/developer/shared/validation.ts. */
  registrationRefused: withParameters({
    status: 400,
    make: (message: string, faults: readonly FieldFault[]) => ({ message, faults }),
    example: ['A client needs a redirect URI.', []],
    place: 'tRPC',
    cause: 'The registration breaks rules for names, redirects or scopes; the message has a line for each.',
    fix: 'Correct what the lines name.',
  }),
  tooManyApps: {
    status: 409,
    message: 'A team can have at most 50 apps.',
    reason: 'too_many_apps',
    place: 'tRPC',
    cause: 'The team has 50 apps.',
    fix: 'Remove an unused one, or ask the operator.',
  },
  tooManyClients: {
    status: 409,
    message: 'An app can have at most 20 clients.',
    reason: 'too_many_clients',
    place: 'tRPC',
    cause: 'The app has 20 clients.',
    fix: 'Remove an unused one.',
  },
  tooManyRules: {
    status: 409,
    message: 'An app can have rules for at most 100 collections.',
    reason: 'too_many_rules',
    place: 'sync and tRPC',
    cause: 'The app has rules for 100 collections.',
    fix: 'Set the rule of one that needs none to anyone.',
  },
  notSandbox: {
    status: 409,
    message: 'Only the sandbox client of an app can be requested for production.',
    reason: 'not_sandbox',
    place: 'tRPC',
    cause: 'The client is already in production, or has no app.',
    fix: "Request production for an app's sandbox client.",
  },
  clientNotWeb: {
    status: 409,
    message: 'Only a web client can authenticate: a native app cannot protect a secret.',
    reason: 'client_not_web',
    place: 'tRPC',
    cause: 'The client is a native app, whose users could read its secret.',
    fix: 'Leave it public, or create a web client for your server.',
  },
  tooManySecrets: {
    status: 409,
    message: 'A client can have at most two valid secrets. Remove one first.',
    reason: 'too_many_secrets',
    place: 'tRPC',
    cause: 'The client has two secrets that have not expired.',
    fix: 'Remove the one that your server no longer uses.',
  },
  secretMissing: {
    status: 409,
    message: 'This client has no valid secret. Create one first.',
    reason: 'secret_missing',
    place: 'tRPC',
    cause: 'With client_secret the client needs a valid secret, and it has none.',
    fix: 'Create one and store it on your server first.',
  },
  staysConfidential: {
    status: 409,
    message: 'A production client that authenticates cannot become public again.',
    reason: 'stays_confidential',
    place: 'tRPC',
    cause: 'The client is in production and has a secret or keys.',
    fix: 'Request a new production client for an app without a server.',
  },
  confirmationWrong: withParameters({
    status: 409,
    make: (consents: number) => ({
      message: `${endingConsents(consents)}Confirm with the client's id.`,
      reason: 'confirmation_wrong',
    }),
    example: [3],
    place: 'tRPC',
    cause: "The removal ends the client and its members' consents, and confirm is not the client's id.",
    fix: "Send the client's id as confirm.",
  }),
  webhookMissing: {
    status: 409,
    message: 'This app has no webhook. Set its address first.',
    reason: 'webhook_missing',
    place: 'tRPC',
    cause: 'The app has no webhook to send a test event to.',
    fix: 'Set an address, then test.',
  },
  testsLimited: withParameters({
    status: 429,
    make: (retryAfterSeconds: number) => ({
      message: `An address gets at most 10 test events per minute; try again in ${retryAfterSeconds} s.`,
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
    example: [23],
    place: 'tRPC',
    cause: 'The team has sent 10 test events to this address within a minute.',
    fix: 'Wait for the seconds given in Retry-After.',
  }),
} satisfies Rows
