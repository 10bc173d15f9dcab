import { z } from 'zod'
import type { Cipher } from '../../kernel/cipher.ts'
import type { Context } from '../../kernel/context.ts'
import { cursorsFor, EXAMPLE } from '../../kernel/cursor.ts'
import { endpoint } from '../../kernel/endpoint.ts'
import { errors, withError } from '../../kernel/errors.ts'
import { page } from '../../kernel/page.ts'
import { providerApp } from '../../kernel/policies.ts'
import { readOrWait, reauthorize, waitFor } from '../../kernel/wait.ts'
import { DELIVERY_HEADERS, signature } from '../deliveries/request.ts'
import { columnsOfApp, signingSecrets } from '../stored-secrets.ts'
import { pickSecrets, secretColumns } from '../template.ts'
import type { FeedPosition, StoredEvent } from './read.ts'
import { readEvents } from './read.ts'

/** Positions in an app's events as its cursors. */
export function eventCursors(cipher: Cipher, app: string) {
  const cursors = cursorsFor(cipher, { purpose: 'events cursor', of: [app], reader: null })
  return {
    of: ({ number, horizon }: FeedPosition) =>
      cursors.of({ number, after: horizon > number ? String(horizon) : undefined }),
    /** Throws 400. */
    readPosition(cursor: string): FeedPosition {
      const position = cursors.readPosition(cursor)
      if (!position) throw errors.eventCursorInvalid()
      return { number: position.number, horizon: Number(position.after ?? 0) }
    },
  }
}

const SCOPE = 'ntf.apps.webhook:update'
const { allows, checkAgain } = reauthorize({ scope: SCOPE, policy: providerApp })

type Granted = Context & { app: string; provider: string; suspended: boolean }

const input = z
  .object({
    since: z
      .string(withError('eventCursorInvalid'))
      .max(500, withError('eventCursorInvalid'))
      .meta({
        description:
          'The `cursor` of the page before: its events count as received. Omitted, the oldest stored events.',
      })
      .optional(),
    limit: page.limit.meta({ description: 'Maximum number of events to return.', examples: [50] }),
    wait: waitFor('an event'),
  })
  .prefault({})

const item = z
  .object({
    id: z.string().meta({ description: 'Id of the event, also `webhook-id`.', examples: ['e1'] }),
    type: z.string().meta({ description: 'Type of the event.', examples: ['member.joined'] }),
    createdAt: z.int().meta({ description: 'When it was published, in Unix seconds.', examples: [1777802400] }),
    headers: z.record(z.string(), z.string()).meta({
      description:
        'As those of a delivery: `content-type`, `webhook-id`, `webhook-timestamp`, which is the time of this response, and `webhook-signature` if the app has a secret. The secret itself is not among them.',
      examples: [{ 'webhook-id': 'e1', 'webhook-timestamp': '1777802460', 'webhook-signature': 'v1,gxO1K+vrnsSH…' }],
    }),
    payload: z.string().meta({
      description: 'The body of a delivery, as text: verify it as it is, then parse it.',
      examples: ['{"id":"e1","type":"member.joined","timestamp":"2026-05-03T10:00:00.000Z","data":{}}'],
    }),
  })
  .meta({ title: 'AppEvent', description: 'An event of the app, with what a delivery of it would have.' })

const output = z.object({
  items: z.array(item).meta({ description: 'Events in the order in which they are to be received.' }),
  cursor: z.string().meta({
    description: 'Where the next page begins. It belongs to the app.',
    examples: [EXAMPLE],
  }),
  more: z.boolean().meta({ description: 'Whether more can be read at once.', examples: [false] }),
})

export const fetchEvents = endpoint('GET /events', SCOPE, providerApp, {
  section: 'sync',
  summary: 'The events of the app',
  description:
    'What a webhook would be sent, to be fetched instead, so that the app needs no public address: the events of the app of the client, each once, with the body of a delivery and a signature by the secret of the webhook. Deliveries to subscribers go on as they are. The token of a sandbox client gets those of the test club, and test events. Asking with `since` confirms the page before; without it, the events begin with the oldest that is stored.',
  returns: 'The events on the page.',
  fails: ['appUnknown', 'appSuspended', 'eventCursorInvalid', 'cursorExpired', 'waitsLimited', 'tokenExpired'],
})
  .input(input)
  .output(output)
  .query(async ({ ctx, input: { since, limit, wait } }) => {
    const { core, app } = ctx
    const cursors = eventCursors(core.cipher, app)
    const { events, next, more, secrets } = await readOrWait(ctx, {
      seconds: wait,
      listen: () => core.eventWatch.listen({ app, club: '', owner: '', collection: '' }),
      async read() {
        // For each page: the secret may change while the call waits.
        const { secrets, tests } = await findFeed(ctx)
        const position = since === undefined ? undefined : cursors.readPosition(since)
        const found = await readEvents(core.db, app, { since: position, limit, tests }, ctx.call.reserve)
        const page = { ...found, secrets }
        return { page, isEmpty: page.events.length === 0 && !page.more, seen: page.next.number }
      },
      allows,
      async checkAgain() {
        if ((await checkAgain(ctx)).suspended) throw errors.appSuspended()
      },
    })
    const now = core.now()
    const { secret, former } = signingSecrets(core.cipher, columnsOfApp(app), secrets, now)
    const keys = [secret, former].filter((one) => one !== null)
    const items = events.map((event) => toItem(event, keys, Math.floor(now / 1_000)))
    return { items, cursor: cursors.of(next), more }
  })

/**
 * A member of the app's provider gets all events; one of the team's test provider, as in sandbox clients, those of the test club,
 * also where that provider is the app's own.
 */
export async function findFeed({ core, app, provider, suspended }: Granted) {
  const found = await core.db.app.findFirst({
    where: { id: app, OR: [{ providerId: provider }, { team: { testClubs: { some: { id: provider } } } }] },
    select: { providerId: true, provider: { select: { testTeamId: true } }, ...secretColumns },
  })
  if (!found) throw errors.appUnknown()
  if (suspended) throw errors.appSuspended()
  const tests = found.providerId !== provider || found.provider!.testTeamId !== null
  return { secrets: pickSecrets(found), tests }
}

function toItem({ id, type, createdAt, body }: StoredEvent, secrets: readonly string[], timestamp: number) {
  const headers = {
    'content-type': DELIVERY_HEADERS['content-type'],
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(secrets.length > 0 && { 'webhook-signature': signature(secrets, id, timestamp, body) }),
  }
  return { id, type, createdAt, headers, payload: body }
}
