import { createInterface } from 'node:readline'

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
let tokens
let verifier
let server

export const print = (text) => void process.stdout.write(`${text}\n`)

/** As a program holds what it needs; the client is registered, and the address to sign in at is printed. */
export const authProvider = {
  redirectUrl: process.env.REDIRECT_URI,
  clientMetadata: { redirect_uris: [process.env.REDIRECT_URI] },
  clientInformation: () => ({ client_id: process.env.CLIENT_ID }),
  tokens: () => tokens,
  saveTokens: (given) => {
    tokens = given
  },
  redirectToAuthorization: (url) => print(url),
  saveCodeVerifier: (given) => {
    verifier = given
  },
  codeVerifier: () => verifier,
  // As @ai-sdk/mcp names it.
  authorizationServerInformation: () => server,
  saveAuthorizationServerInformation: (given) => {
    server = given
  },
}

/** From the address that the browser comes back to. */
export const readCallback = async () => new URL((await lines.next()).value).searchParams

export const printMember = ({ content }, tools) =>
  print(
    JSON.stringify({
      member: JSON.parse(content[0].text).id,
      tools: tools.map(({ name }) => name),
      token: tokens?.access_token,
    }),
  )
