// Its modules name each other without `.js`, as bundlers and tsx find them: it is run by tsx, as its own sample.
import {
  AuthorizationNotifier,
  AuthorizationRequest,
  AuthorizationServiceConfiguration,
  BaseTokenRequestHandler,
  GRANT_TYPE_AUTHORIZATION_CODE,
  GRANT_TYPE_REFRESH_TOKEN,
  RevokeTokenRequest,
  TokenRequest,
} from '@openid/appauth'
import { NodeCrypto } from '@openid/appauth/built/src/node_support'
import { NodeBasedHandler } from '@openid/appauth/built/src/node_support/node_request_handler'
import { NodeRequestor } from '@openid/appauth/built/src/node_support/node_requestor'
import { CLIENT_ID, ISSUER, print, REDIRECT_URI, readMember, refusal, scope } from './member.mjs'

const requestor = new NodeRequestor()
const configuration = await AuthorizationServiceConfiguration.fetchFromIssuer(ISSUER, requestor)
const handler = new NodeBasedHandler(Number(new URL(REDIRECT_URI).port))
const notifier = new AuthorizationNotifier()
handler.setAuthorizationNotifier(notifier)
const request = new AuthorizationRequest(
  { client_id: CLIENT_ID, redirect_uri: REDIRECT_URI, scope, response_type: 'code' },
  new NodeCrypto(),
)
const code = new Promise((resolve, reject) => {
  notifier.setAuthorizationListener((_, response, error) => (response ? resolve(response.code) : reject(error)))
})
handler.performAuthorizationRequest(configuration, request)
const tokens = new BaseTokenRequestHandler(requestor)
const own = { client_id: CLIENT_ID, redirect_uri: REDIRECT_URI }
const first = await tokens.performTokenRequest(
  configuration,
  new TokenRequest({
    ...own,
    grant_type: GRANT_TYPE_AUTHORIZATION_CODE,
    code: await code,
    extras: { code_verifier: request.internal.code_verifier },
  }),
)
const renewal = (refresh_token) => new TokenRequest({ ...own, grant_type: GRANT_TYPE_REFRESH_TOKEN, refresh_token })
const renewed = await tokens.performTokenRequest(configuration, renewal(first.refreshToken))
const member = await readMember(renewed.accessToken)
// It asks for a new token this long before the end of one: 600 s.
const isFresh = first.isValid()
const revocation = new RevokeTokenRequest({ client_id: CLIENT_ID, token: renewed.refreshToken })
await tokens.performRevokeTokenRequest(configuration, revocation)
const again = tokens.performTokenRequest(configuration, renewal(renewed.refreshToken))
print({ member, isFresh, revoked: await refusal(again) })
process.exit()
