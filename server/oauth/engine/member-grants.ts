import type { Account, Configuration } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import { isScope } from '../../../routers/kernel/scopes.ts'
import { AUDIENCE } from '../../tokens/audience.ts'
import { isFor, isSandbox, isSuspended, requestedScopes } from '../consents/authorize-scopes.ts'
import { findOrganisation } from '../consents/consents.ts'
import { clientClaims } from './client-credentials.ts'
import { errors } from './oidc-provider.ts'

/** oidc-provider's account of the person who signed in; with a token, of its consent's member, with the organisation. */
interface Member extends Account {
  organisation?: string
}

/** Answers oidc-provider's questions about members and the consents behind their tokens. */
export function memberGrants(db: Database, now: () => number) {
  const organisation = (person: string, client: string, grant: string) =>
    findOrganisation(db, { grant, person, client }, now())

  return {
    async findAccount({ oidc }, sub, token): Promise<Member | undefined> {
      const account = (accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) })
      if (!token) return (await db.person.count({ where: { id: sub } })) > 0 ? account(sub) : undefined
      // Checked before the refresh token is used up: a mistake in the request must not cost the app its sign-in.
      if ((oidc.params?.resource ?? AUDIENCE) !== AUDIENCE) throw new errors.InvalidTarget()
      const { clientId, grantId } = token as { clientId?: string; grantId?: string }
      const consented = await organisation(sub, clientId ?? '', grantId ?? '')
      return consented ? { ...account(consented.member), organisation: consented.id } : undefined
    },
    extraTokenClaims: (ctx, token) =>
      token.kind === 'ClientCredentials'
        ? clientClaims(db, ctx, token)
        : { organisation: (ctx.oidc.account as Member).organisation, gid: token.grantId },
    formats: {
      customizers: {
        jwt(_ctx, _token, jwt) {
          // oidc-provider knows only the machine's clock, but tokens are checked by the database's.
          const ahead = Math.round((Date.now() - now()) / 1_000)
          for (const claim of ['iat', 'exp']) jwt.payload[claim] = Number(jwt.payload[claim]) - ahead
        },
      },
    },
    async loadExistingGrant({ oidc }) {
      // Suspended since its request was made.
      if (isSuspended(oidc.client)) throw new errors.UnauthorizedClient('this app is suspended')
      const client = oidc.client!.clientId
      // A document may change unseen; in a sandbox client the test member is chosen each time.
      const asksAgain = isDocumentAddress(client) || (isSandbox(oidc.client) && !oidc.prompts.has('none'))
      const id = oidc.result?.consent?.grantId ?? (asksAgain ? undefined : oidc.session!.grantIdFor(client))
      if (!id) return undefined
      const consented = await organisation(oidc.account!.accountId, client, id)
      const wanted = oidc.params!.organisation ?? consented?.id
      if (!consented || (wanted !== consented.id && !oidc.result?.consent)) return undefined
      const asked = requestedScopes(oidc.client, oidc.params!.scope).filter(isScope)
      const unfitting = asked.filter((scope) => !isFor(consented.kind)(scope))
      // None of the requested scopes fits this kind of organisation: another consent is needed.
      if (asked.length > 0 && unfitting.length === asked.length) return undefined
      const grant = await oidc.provider.Grant.find(id)
      // Not stored. The member is not asked again for scopes that do not apply to the organisation.
      if (unfitting.length > 0) grant?.rejectResourceScope(AUDIENCE, unfitting.join(' '))
      return grant
    },
  } satisfies Partial<Configuration>
}
