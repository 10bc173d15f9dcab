// Arguments: the folder of the SDK's programs, and of a file that changes the platform. Prints what the calls return.
import { pathToFileURL } from 'node:url'

const [, , sdk, platform] = process.argv
if (platform) await import(pathToFileURL(platform))
const { createClient, EntryChanged } = await import(pathToFileURL(`${sdk}/client.js`))
const { signedRequest, verifyWebhook } = await import(pathToFileURL(`${sdk}/webhooks.js`))

const { APPS, SYNC, TOKEN } = process.env
const api = createClient({ apps: globalThis.OwnURL ? new OwnURL(APPS) : APPS, sync: SYNC, tokens: TOKEN })
const name = `sdk-${Date.now()}`
const collection = api.storage(name)
const found = {}

found.profile = (await api.me.profile()).firstName
found.events = (await api.me.events({ start: 1_700_000_000, end: 1_700_000_100 })).items
const first = await collection.put('k', 1, { ifNoneMatch: '*' })
found.refused = await collection.put('k', 2, { ifNoneMatch: '*' }).catch((error) => error instanceof EntryChanged)
found.updated = (await collection.update('k', (was) => was + 1)).value
found.batch = (await api.storage.batch([{ op: 'put', collection: name, key: 'b', value: 'ä' }])).length
found.same = (await collection.get('k')).etag !== first.etag

const live = collection.live()
const seen = new Promise((resolve) => {
  const stop = live.subscribe(() => {
    if (live.entries.get('k')?.value !== 3 && live.state !== 'ended') return
    stop()
    resolve([live.state, [...live.entries.keys()]])
  })
})
await collection.put('k', 3)
found.live = await seen
found.deleted = [await collection.delete('k'), await collection.delete('k')]
for await (const { key, value } of collection) found[key] = value

if (!platform) {
  const request = await signedRequest('https://r.example/', 's', { type: 't', data: { text: 'ä' } })
  const event = await verifyWebhook(await request.text(), request.headers, 's')
  found.webhook = event.data.text
}
process.stdout.write(JSON.stringify(found), () => process.exit(0))
