import { once } from 'node:events'
import { createInterface } from 'node:readline'

export const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PROFILE } = process.env
export const scope = 'svc.me.profile:read'

const lines = createInterface({ input: process.stdin })

/** Prints where the member signs in, and returns the address that their browser comes back to. */
export async function signIn(address) {
  process.stdout.write(`${address}\n`)
  const [line] = await once(lines, 'line')
  lines.close()
  return new URL(line)
}

/** The id that the API has for the member of an access token. */
export async function readMember(token) {
  const response = await fetch(PROFILE, { headers: { authorization: `Bearer ${token}` } })
  return (await response.json()).id
}

/** What a call is refused with: the library's error. */
export const refusal = (call) =>
  call.then(
    () => 'none',
    (error) => error.code ?? error.error ?? error.data?.payload?.error ?? error.message,
  )

export const print = (result) => process.stdout.write(`${JSON.stringify(result)}\n`)
