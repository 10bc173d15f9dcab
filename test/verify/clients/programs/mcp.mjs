import { auth } from '@modelcontextprotocol/sdk/client/auth.js'
import { CLIENT_ID, print, REDIRECT_URI, scope, signIn } from './member.mjs'

const saved = {}
const provider = {
  redirectUrl: REDIRECT_URI,
  clientMetadataUrl: CLIENT_ID,
  clientMetadata: { client_name: 'Tool', redirect_uris: [REDIRECT_URI], scope, token_endpoint_auth_method: 'none' },
  clientInformation: () => saved.client,
  saveClientInformation: (client) => {
    saved.client = client
  },
  tokens: () => saved.tokens,
  saveTokens: (tokens) => {
    saved.tokens = tokens
  },
  redirectToAuthorization: (address) => {
    saved.address = address
  },
  codeVerifier: () => saved.verifier,
  saveCodeVerifier: (verifier) => {
    saved.verifier = verifier
  },
}
const options = { serverUrl: process.env.RESOURCE }
const asked = await auth(provider, options)
const back = await signIn(saved.address)
const allowed = await auth(provider, { ...options, authorizationCode: back.searchParams.get('code') })
const first = saved.tokens.access_token
const renewed = await auth(provider, options)
const headers = { authorization: `Bearer ${saved.tokens.access_token}` }
print({
  steps: [asked, allowed, renewed],
  client: saved.client.client_id,
  resource: saved.address.searchParams.get('resource'),
  isNew: saved.tokens.access_token !== first,
  status: (await fetch(`${process.env.RESOURCE}/collections`, { headers })).status,
})
