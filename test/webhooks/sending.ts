import { onTestFinished, vi } from 'vitest'
import type { Message } from '../../server/webhooks/send/message.ts'
import { createSender } from '../../server/webhooks/send/send.ts'

type Options = Parameters<typeof createSender>[0]

/** Closes it when the test ends. */
export function ending<T extends { close: () => unknown }>(closable: T): T {
  onTestFinished(async () => void (await closable.close()))
  return closable
}

/** A sender that may connect to 127.0.0.1; it is closed when the test ends. */
export const senderTo = ({ ca }: { ca: string }, more: Partial<Options> = {}) =>
  ending(createSender({ allow: ['127.0.0.1'], now: Date.now, ca, ...more }))

/** Lets the sender's time-outs pass when the returned function is called, and not by the clock. */
export function timeouts(): (ms: number) => void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return (ms) => void vi.advanceTimersByTime(ms)
}

/** A message, for tests that only care how it is sent. */
export const message = (url: string, more: Partial<Message> = {}): Message => ({
  id: 'delivery',
  url,
  secret: 'secret',
  body: '{}',
  ...more,
})

/** The result of an attempt without a response. */
export const unanswered = (error: string) => ({
  status: null,
  error,
  responseBody: null,
  retryAfterSeconds: null,
  gone: false,
})

/** A second loopback address. */
export const elsewhere = process.platform === 'linux' ? '127.0.0.2' : '::1'
