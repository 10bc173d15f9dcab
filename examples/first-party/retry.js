// Sends the failed deliveries of a provider's apps again, as a job may after a long outage of receivers: over tRPC.
import { createClient, TRPCClientError } from 'member-apps-client'

const { TRPC_URL = 'http://localhost:3001/trpc', AUTH_BASE_URL = 'http://localhost:3000/auth/v1' } = process.env
const { CLIENT_ID, CLIENT_SECRET, ORGANISATION: organisation = 'provider' } = process.env
if (!CLIENT_ID || !CLIENT_SECRET) throw new Error('Set CLIENT_ID and CLIENT_SECRET.')

/** Called before the first call, and again when the service has refused the token. */
async function token() {
  const authorization = `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}`
  const body = new URLSearchParams({ grant_type: 'client_credentials', organisation, scope: 'ntf.events:write' })
  const answer = await fetch(`${AUTH_BASE_URL}/oauth/token`, { method: 'POST', headers: { authorization }, body })
  if (!answer.ok) throw new Error(`No token: ${answer.status} ${await answer.text()}`)
  return (await answer.json()).access_token
}
const { deliveries } = createClient({ url: TRPC_URL, token })

/** Returns whether it is sent again: not when its subscription has ended, or somebody else was faster. */
const retry = ({ id }) =>
  deliveries.retry.mutate({ id }).then(
    () => true,
    (error) => {
      if (error instanceof TRPCClientError && error.data?.error === 'conflict') return false
      throw error
    },
  )

// A whole page before the next one, as deliveries that are sent again leave the list.
let [again, left] = [0, 0]
for (;;) {
  const { items } = await deliveries.list.query({ state: 'failed', limit: 50, offset: left })
  if (items.length === 0) break
  const done = await Promise.all(items.map(retry))
  again += done.filter(Boolean).length
  left += done.filter((one) => !one).length
}
process.stdout.write(`${again} deliveries are sent again, ${left} are not.\n`)
