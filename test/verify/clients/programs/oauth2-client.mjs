import { generateCodeVerifier, OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, PROFILE, print, REDIRECT_URI, refusal, scope, signIn } from './member.mjs'

const client = new OAuth2Client({
  server: `${ISSUER}/`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  discoveryEndpoint: `${ISSUER}/.well-known/oauth-authorization-server`,
})
const codeVerifier = await generateCodeVerifier()
const request = { redirectUri: REDIRECT_URI, state: 's', codeVerifier }
const back = await signIn(await client.authorizationCode.getAuthorizeUri({ ...request, scope: [scope] }))
const first = await client.authorizationCode.getTokenFromCodeRedirect(back, request)
const renewed = await client.refreshToken(first)
const wrapper = new OAuth2Fetch({
  client,
  getNewToken: () => null,
  getStoredToken: () => renewed,
  scheduleRefresh: false,
})
const { id: member } = await (await wrapper.fetch(PROFILE)).json()
await client.revoke(renewed)
print({ member, revoked: await refusal(client.refreshToken(renewed)) })
