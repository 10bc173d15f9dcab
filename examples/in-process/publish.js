// Publishes an app's event from one of the platform's own processes, as a nightly job may: no HTTP, no token.
import { createService } from 'member-apps-api'

const { DATABASE_URL, SECRETS_KEY, PROVIDER = 'provider', CLIENT = 'platform' } = process.env
if (!DATABASE_URL || !SECRETS_KEY) throw new Error('Set DATABASE_URL and SECRETS_KEY, as for the service.')
const [app, member] = process.argv.slice(2)
if (!app || !member) throw new Error('Use: node publish.js APP MEMBER')

const service = await createService({ databaseUrl: DATABASE_URL, secretsKey: SECRETS_KEY })
try {
  const platform = service.callAs({
    member: null,
    organisation: PROVIDER,
    client: CLIENT,
    scopes: new Set(['ntf.events:write', 'ntf.subscriptions:write']),
  })
  const { total } = await platform.subscriptions.list({ app })
  // The same id each time: the job may run twice, and the event is published once.
  const event = { app, type: 'member.joined', data: { member }, id: `joined-${member}` }
  const { id, deliveries } = await platform.events.publish(event)
  process.stdout.write(`${id}: ${total} subscriptions, ${deliveries} deliveries\n`)
} finally {
  await service.close()
}
