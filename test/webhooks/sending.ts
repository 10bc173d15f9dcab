import { onTestFinished } from 'vitest'
import type { Message } from '../../server/webhooks/send/send.ts'
import { createSender } from '../../server/webhooks/send/send.ts'

type Options = Parameters<typeof createSender>[0]

/** Ends with the test. */
export function ending<T extends { close: () => unknown }>(it: T): T {
  onTestFinished(async () => void (await it.close()))
  return it
}

/** A sender that may go to this machine; it ends with the test. */
export const senderTo = ({ ca }: { ca: string }, more: Partial<Options> = {}) =>
  ending(createSender({ allow: ['127.0.0.1'], now: Date.now, ca, ...more }))

/** What only matters in that it is sent. */
export const message = (url: string, more: Partial<Message> = {}): Message => ({
  id: 'delivery',
  url,
  secret: 'secret',
  body: '{}',
  ...more,
})

/** The outcome of a try that brought no answer. */
export const unanswered = (error: string) => ({
  status: null,
  error,
  answer: null,
  retryAfterSeconds: null,
  gone: false,
})

/** An address of this machine beside 127.0.0.1. */
export const elsewhere = process.platform === 'linux' ? '127.0.0.2' : '::1'
