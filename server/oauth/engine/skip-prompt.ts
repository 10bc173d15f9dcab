import type { Client, KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import { isThisMachine } from '../../../routers/developer/shared/registration.ts'
import { AUDIENCE } from '../../tokens/audience.ts'
import { isSandbox, requestedScopes } from '../consents/authorize-scopes.ts'
import { skipConsent } from '../consents/skipped-consent.ts'
import { createGrant } from './grants.ts'
import { interactionPolicy } from './oidc-provider.ts'

interface Options {
  db: Database
  now: () => number
  clubApproval: boolean
}

/**
 * A prompt that never asks. It comes after that for the sign-in and before that for the consent, which is satisfied when an earlier
 * consent of the member covers the request. An app that could be impersonated asks each time (RFC 6749, 10.2): one whose code goes
 * to this machine or to a native app.
 */
export function skipPrompt({ db, now, clubApproval }: Options) {
  const { Check, Prompt } = interactionPolicy
  const trySkip = async ({ oidc }: KoaContextWithOIDC) => {
    const { client, account, session, params, prompts, grant } = oidc
    const isDecided = grant?.jti !== undefined || oidc.result !== undefined
    if (isDecided || prompts.has('consent') || !client || !account || !isAssured(client)) return
    const asked = requestedScopes(client, params!.scope)
    const consent = await skipConsent(db, {
      person: account.accountId,
      client: client.clientId,
      scopes: asked,
      organisation: params!.organisation,
      clubApproval,
      now: now(),
    })
    if (!consent) return
    const { id: jti, scopes, endsAt } = consent
    const expiresIn = Math.floor((endsAt - now()) / 1000)
    const created = createGrant(oidc.provider, {
      accountId: account.accountId,
      clientId: client.clientId,
      scopes,
      jti,
      expiresIn,
    })
    await created.save()
    // Not stored, as in member-grants.ts: they are for other organisations.
    const unfitting = asked.filter((scope) => !scopes.includes(scope))
    if (unfitting.length > 0) created.rejectResourceScope(AUDIENCE, unfitting.join(' '))
    oidc.entity('Grant', created)
    session!.ensureClientContainer(client.clientId)
    session!.grantIdFor(client.clientId, jti)
  }
  return new Prompt(
    { name: 'skip', requestable: false },
    new Check('covered', 'an earlier consent covers the request', async (ctx) => {
      await trySkip(ctx)
      return Check.NO_NEED_TO_PROMPT
    }),
  )
}

/** A document may change unseen, as in member-grants.ts. */
const isAssured = (client: Client) =>
  !isDocumentAddress(client.clientId) &&
  client.applicationType === 'web' &&
  !isSandbox(client) &&
  client.redirectUris!.every(isElsewhere)

function isElsewhere(uri: string) {
  const { protocol, hostname } = new URL(uri)
  return protocol === 'https:' && !isThisMachine(hostname)
}
