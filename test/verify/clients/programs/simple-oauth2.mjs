import { createHash, randomBytes } from 'node:crypto'
import { AuthorizationCode } from 'simple-oauth2'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, print, REDIRECT_URI, readMember, refusal, scope, signIn } from './member.mjs'

const { origin, pathname } = new URL(ISSUER)
const client = new AuthorizationCode({
  client: { id: CLIENT_ID, secret: CLIENT_SECRET },
  auth: {
    tokenHost: origin,
    authorizePath: `${pathname}/authorize`,
    tokenPath: `${pathname}/token`,
    revokePath: `${pathname}/revoke`,
  },
})
// It has no PKCE: the two parameters are the app's.
const code_verifier = randomBytes(32).toString('base64url')
const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
const address = client.authorizeURL({
  redirect_uri: REDIRECT_URI,
  scope,
  state: 's',
  code_challenge,
  code_challenge_method: 'S256',
})
const back = await signIn(address)
const first = await client.getToken({ code: back.searchParams.get('code'), redirect_uri: REDIRECT_URI, code_verifier })
const renewed = await first.refresh()
const member = await readMember(renewed.token.access_token)
await renewed.revokeAll()
print({ member, expired: first.expired(300), revoked: await refusal(renewed.refresh()) })
