// Signs a member in from a program: the browser returns to a port of this machine (RFC 8252). Prints the access token.
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

const { ISSUER = 'http://auth.localhost:3000/v1/oauth', SCOPE = 'svc.me.profile:read' } = process.env
const [clientId] = process.argv.slice(2)
if (!clientId) throw new Error('Use: node sign-in.js CLIENT_ID')

const random = () => randomBytes(32).toString('base64url')
const [state, verifier] = [random(), random()]

// The server's metadata (RFC 8414), which lists its endpoints.
const { origin, pathname } = new URL(ISSUER)
const server = await (await fetch(`${origin}/.well-known/oauth-authorization-server${pathname}`)).json()
if (server.issuer !== ISSUER) throw new Error(`This is the server ${server.issuer}.`)

// Any free port will do: the redirect is registered as http://127.0.0.1/.
const listener = createServer().listen(0, '127.0.0.1')
await once(listener, 'listening')
const redirectUri = `http://127.0.0.1:${listener.address().port}/`

const query = new URLSearchParams({
  response_type: 'code',
  client_id: clientId,
  redirect_uri: redirectUri,
  scope: SCOPE,
  state,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
})
process.stderr.write(`Open this address in your browser:\n${server.authorization_endpoint}?${query}\n`)

// Other requests, as for an icon or from another page, are not the answer to this one.
let answer
while (!answer) {
  const [request, response] = await once(listener, 'request')
  const given = new URL(request.url, redirectUri).searchParams
  const isOurs = given.get('state') === state && given.get('iss') === ISSUER
  if (isOurs) answer = given
  response.writeHead(isOurs ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' })
  response.end(isOurs ? 'Done: go back to the program.' : 'There is nothing here.')
}
listener.close()
if (answer.has('error')) throw new Error(answer.get('error_description') ?? answer.get('error'))

const response = await fetch(server.token_endpoint, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: clientId,
    code: answer.get('code'),
    redirect_uri: redirectUri,
    code_verifier: verifier,
  }),
})
const tokens = await response.json()
if (!response.ok) throw new Error(tokens.error_description)
// A program that runs longer stores `refresh_token`, and renews with it; each works once.
process.stdout.write(`${tokens.access_token}\n`)
