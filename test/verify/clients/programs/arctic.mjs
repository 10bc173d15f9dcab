import * as arctic from 'arctic'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, print, REDIRECT_URI, readMember, refusal, scope, signIn } from './member.mjs'

const client = new arctic.OAuth2Client(CLIENT_ID, CLIENT_SECRET ?? null, REDIRECT_URI)
const verifier = arctic.generateCodeVerifier()
const { S256 } = arctic.CodeChallengeMethod
const scopes = ['openid', scope]
const state = arctic.generateState()
const back = await signIn(client.createAuthorizationURLWithPKCE(`${ISSUER}/authorize`, state, S256, verifier, scopes))
const first = await client.validateAuthorizationCode(`${ISSUER}/token`, back.searchParams.get('code'), verifier)
const renewed = await client.refreshAccessToken(`${ISSUER}/token`, first.refreshToken(), [])
const member = await readMember(renewed.accessToken())
const { sub } = arctic.decodeIdToken(first.idToken())
await client.revokeToken(`${ISSUER}/revoke`, renewed.accessToken())
const again = client.refreshAccessToken(`${ISSUER}/token`, renewed.refreshToken(), [])
print({ member, sub, revoked: await refusal(again) })
