import { generators, Issuer } from 'openid-client'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, print, REDIRECT_URI, readMember, refusal, scope, signIn } from './member.mjs'

const issuer = await Issuer.discover(ISSUER)
const client = new issuer.Client({
  client_id: CLIENT_ID,
  redirect_uris: [REDIRECT_URI],
  response_types: ['code'],
  ...(CLIENT_SECRET ? { client_secret: CLIENT_SECRET } : { token_endpoint_auth_method: 'none' }),
})
const code_verifier = generators.codeVerifier()
const [state, nonce] = [generators.state(), generators.nonce()]
const address = client.authorizationUrl({
  scope: `openid profile ${scope}`,
  state,
  nonce,
  code_challenge: generators.codeChallenge(code_verifier),
  code_challenge_method: 'S256',
})
const back = await signIn(address)
const first = await client.callback(REDIRECT_URI, client.callbackParams(back.href), { code_verifier, state, nonce })
const { name } = await client.userinfo(first)
const renewed = await client.refresh(first)
const member = await readMember(renewed.access_token)
await client.revoke(renewed.refresh_token)
print({ member, sub: first.claims().sub, name, revoked: await refusal(client.refresh(renewed)) })
