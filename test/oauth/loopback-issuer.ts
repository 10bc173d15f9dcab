import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CryptoKey, JWK } from 'jose'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

interface Key {
  alg: string
  kid: string
  privateKey: CryptoKey
  publicJwk: JWK
}

export type Issuer = Awaited<ReturnType<typeof loopbackIssuer>>

/** A response in place of a document. */
export type Answer = (response: ServerResponse) => void

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(code, headers).end()
export const hang: Answer = () => {}
export const text =
  (content: string): Answer =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(content)

/** An issuer on loopback: discovery, keys and tokens. It can go down, hang, respond with anything and change its keys. */
export async function loopbackIssuer({ path = `/${randomUUID()}`, place = 'openid-configuration' } = {}) {
  const requests: string[] = []
  const answers = new Map<string, Answer>()
  let keys: Key[] = []
  const server = createServer((request, response) => {
    requests.push(request.url!)
    const own = answers.get(request.url!) ?? answers.get('*')
    if (own) return own(response)
    if (request.url === `${path}/jwks`) return text(JSON.stringify(keySet()))(response)
    if (request.url === documentPath())
      return text(JSON.stringify({ issuer, jwks_uri: `${origin}${path}/jwks` }))(response)
    status(404)(response)
  })
  const up = async () => {
    if (server.listening) return
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  let port = 0
  await up()
  port = (server.address() as AddressInfo).port
  const origin = `http://127.0.0.1:${port}`
  const issuer = `${origin}${path}`
  const documentPath = () =>
    place === 'openid-configuration' ? `${path}/.well-known/${place}` : `/.well-known/${place}${path}`
  const keySet = () => ({ keys: keys.map(({ publicJwk }) => publicJwk) })

  /** Adds a key, which signs from now on. */
  const addKey = async (alg = 'ES256'): Promise<Key> => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const kid = randomUUID()
    const key = { alg, kid, privateKey, publicJwk: { ...(await exportJWK(publicKey)), alg, kid, use: 'sig' } }
    keys = [...keys, key]
    return key
  }
  await addKey()

  return {
    issuer,
    jwksUrl: `${issuer}/jwks`,
    documentPath: documentPath(),
    requests,
    addKey,
    keys: () => keys,
    keySet,
    /** Removes a key from the key set. */
    withdraw(kid: string) {
      keys = keys.filter((key) => key.kid !== kid)
    },
    /** Replaces the response to all requests or to those of a path; null restores it. */
    answer(answer: Answer | null, at = '*') {
      if (answer) answers.set(at, answer)
      else answers.delete(at)
    },
    up,
    async down() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
    /** Signs a token with these claims, by default with the newest key. */
    sign(claims: Record<string, unknown>, header: Record<string, unknown> = {}, key: Key = keys.at(-1)!) {
      return new SignJWT({ iss: issuer, ...claims })
        .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
        .sign(key.privateKey)
    },
  }
}
