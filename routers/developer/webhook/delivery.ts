import { z } from 'zod'
import { deliveryStates } from '../../webhooks/deliveries/retry.ts'

export const delivery = z.object({
  id: z.string().meta({ description: 'Sent as webhook-id' }),
  event: z.string(),
  type: z.string().meta({ description: 'The type of the event' }),
  subscription: z.string(),
  test: z.boolean().meta({ description: 'Whether the team sent it to try its webhook' }),
  state: z.enum(deliveryStates),
  attempts: z.int().meta({ description: 'Finished attempts' }),
  lastStatus: z.int().nullable().meta({ description: 'Status of the last response; null without one' }),
  lastError: z.string().nullable().meta({ description: 'Why the last attempt failed' }),
  createdAt: z.int(),
  lastAttemptAt: z.int().nullable().meta({ description: 'When the last attempt began' }),
  nextAttemptAt: z.int().nullable().meta({ description: 'null when no attempt is due' }),
  finishedAt: z.int().nullable().meta({ description: 'null while pending' }),
})

const attempt = z.object({
  number: z.int().meta({ description: 'From 1; a retry of a failed delivery continues' }),
  at: z.int().meta({ description: 'When it began; sent as webhook-timestamp' }),
  durationMs: z.int(),
  status: z.int().nullable().meta({ description: 'null without a response' }),
  error: z.string().nullable().meta({ description: 'null when delivered' }),
  answer: z.string().nullable().meta({ description: 'The first 1 KiB of the response; null without one' }),
})

export const deliveryDetails = delivery.extend({
  url: z.string().nullable().meta({ description: "The subscription's delivery address" }),
  headers: z
    .record(z.string(), z.string().nullable())
    .meta({ description: 'As sent by the last attempt; null: sent, but not shown' }),
  body: z.string().meta({ description: 'JSON text, as it is sent' }),
  answer: z.string().nullable().meta({ description: 'The first 1 KiB of the last response; null without one' }),
  history: z.array(attempt).meta({ description: 'The last 50 attempts, the last first' }),
})
