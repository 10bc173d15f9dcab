import type { Json } from '../kernel/json.ts'

/** A kind of event, as docs/events.md describes it. */
export interface EventKind {
  type: string
  /** When it is published. */
  description: string
  /** An example of `data`. */
  example: Json
}

/** The API documents name no kinds: this is the only one that the service itself sends. */
export const testKind: EventKind = {
  type: 'webhook.test',
  description: 'The team of the app sends a test event. It is sent only to the webhook of the app, not to subscribers.',
  example: { message: 'This is a test event.' },
}

/** The service's own types; the platform describes others (event-catalogue.ts). */
export const eventKinds: readonly EventKind[] = [testKind]
