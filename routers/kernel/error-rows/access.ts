import type { Rows } from '../error-row.ts'
import { challenge, withParameters } from '../error-row.ts'

/** Tokens, what they allow, and rate limits. */
export const accessErrors = {
  tokenMissing: {
    status: 401,
    message: 'This token is not valid.',
    headers: challenge('realm="member-apps"'),
    place: 'every API',
    cause: 'There is no Authorization header.',
    fix: 'Send Authorization: Bearer with the access token.',
  },
  tokenInvalid: {
    status: 401,
    message: 'This token is not valid.',
    headers: challenge('error="invalid_token"', 'error_description="This token is not valid."'),
    place: 'every API',
    cause:
      'The token is malformed, revoked, sent twice, or for another API; or the consent was withdrawn, the client removed or the app suspended.',
    fix: 'Renew it once. If the new one is refused too, let the member sign in again.',
  },
  tokenExpired: {
    status: 401,
    message: 'This token has expired.',
    headers: challenge('error="invalid_token"', 'error_description="This token has expired."'),
    place: 'every API',
    cause: 'The token has expired; tokens of this service are valid for 15 minutes.',
    fix: 'Renew it with the refresh token, then repeat the request.',
  },
  scopeMissing: withParameters({
    status: 403,
    make: (scope: string) => ({
      message: `This token does not carry the ${scope} scope.`,
      headers: challenge('error="insufficient_scope"', `scope="${scope}"`),
    }),
    example: ['svc.apps.storage:write'],
    place: 'every API',
    cause: 'The member did not allow this scope, or the client is not registered for it.',
    fix: 'Ask the member for it with a new sign-in. The scope field of the token response has the granted scopes.',
  }),
  levelTooLow: {
    status: 403,
    message: 'The Developer membership is needed for this API.',
    place: 'lms, notify and sync',
    cause: "The client's team has the Hobby level.",
    fix: 'These APIs need the Developer membership.',
  },
  clientNotFirstParty: {
    status: 403,
    message: 'This client does not belong to the platform.',
    place: 'tRPC',
    cause: 'The client belongs to a team.',
    fix: "Use one of the platform's clients, with its credentials.",
  },
  clientNotApp: withParameters({
    status: 403,
    make: (brand: string) => ({ message: `This client is not a ${brand} app.` }),
    example: ['the service'],
    place: 'apps and sync',
    cause: 'The client has no app, and so no storage.',
    fix: 'Use a client that is registered for an app.',
  }),
  appItselfNeeded: {
    status: 403,
    message: 'Only the app itself can do this.',
    code: 'forbidden',
    place: 'sync',
    cause: 'The token acts for a member, who cannot change the rules of the app.',
    fix: 'Let the server of the app get a token with the grant type client_credentials.',
  },
  memberUnknown: withParameters({
    status: 404,
    make: (organisation: 'club' | 'academy' | 'provider') => ({
      message: `This member does not exist in this ${organisation}.`,
    }),
    example: ['club'],
    place: 'every API',
    cause: "The member has left the token's organisation, or the organisation is of another kind.",
    fix: 'Let the member sign in again and choose a club (apps), an academy (lms) or a provider (notify).',
  }),
  rateLimited: withParameters({
    status: 429,
    make: (retryAfterSeconds: number) => ({
      message: `The request quota is exhausted; try again in ${retryAfterSeconds} s.`,
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
    example: [23],
    place: 'every API',
    cause: "The team's clients together made more requests than its level allows per minute.",
    fix: 'Wait for the seconds given in Retry-After. Cache responses instead of repeating requests; test with a sandbox client.',
  }),
  failuresLimited: withParameters({
    status: 429,
    make: (retryAfterSeconds: number) => ({
      message: `Too many invalid tokens were sent from this address; try again in ${retryAfterSeconds} s.`,
      headers: { 'Retry-After': String(retryAfterSeconds) },
    }),
    example: [23],
    place: 'every API',
    cause: 'Many requests with invalid tokens came from this address.',
    fix: 'Stop sending the refused token, wait for Retry-After, then renew the token.',
  }),
} satisfies Rows
