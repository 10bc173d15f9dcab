import { z } from 'zod'
import { isPostgresText } from '../../kernel/access.ts'
import { withError } from '../../kernel/errors.ts'
import { EVENT_TYPE, secret, url } from '../../webhooks/rules.ts'

const TYPES = withError('typesInvalid')

export const id = z
  .string()
  .refine(isPostgresText, withError('eventAddressUnknown'))
  .meta({ description: 'Id of the address.', examples: ['0b7cf4b5-6d5f-4f0c-a5b8-5b4a6d3f7c11'] })
export const environment = z.enum(['production', 'sandbox'], { error: 'environment is production or sandbox.' }).meta({
  description: '`sandbox` gets the events of the test club, `production` those of real members.',
  examples: ['production'],
})
export const state = z.enum(['active', 'paused'], { error: 'state is active or paused.' }).meta({
  description: '`paused` ends what is pending; `active` also resumes an address that its receiver has ended.',
  examples: ['active'],
})

export const settings = z.object({
  url: url.meta({
    minLength: 1,
    format: 'uri',
    description: 'Starts with `https://`, has at most 2,048 characters and no user info.',
    examples: ['https://trainer.example.org/left'],
  }),
  types: z
    .array(z.string(TYPES).regex(EVENT_TYPE, TYPES), TYPES)
    .min(1, TYPES)
    .max(50, TYPES)
    .nullable()
    .meta({ description: 'The event types that it gets, 1 to 50; null for all.', examples: [['member.left']] }),
  secret: secret
    .meta({ description: 'Signs what is sent to it: 1 to 1,024 visible ASCII characters.', examples: ['v3ry-s3cret'] })
    .optional(),
})

const delivery = z
  .object({
    at: z.int().meta({ description: 'When it was attempted, in Unix seconds.', examples: [1777802400] }),
    status: z
      .int()
      .nullable()
      .meta({ description: 'Status of the response; null without one.', examples: [204] }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it failed; null if it arrived.', examples: [null] }),
  })
  .meta({ title: 'EventDelivery', description: 'An attempt to deliver an event.' })
export const address = settings
  .pick({ types: true })
  .extend({
    id,
    environment,
    url: z
      .string()
      .nullable()
      .meta({
        description: 'Where events are sent; null if it was lost with its secret.',
        examples: ['https://trainer.example.org/left'],
      }),
    state: z.enum(['active', 'failing', 'paused', 'ended']).meta({
      description: '`failing`: a delivery is being retried. `ended`: the receiver has answered 410.',
      examples: ['active'],
    }),
    lastDelivery: delivery.nullable().meta({ description: 'The delivery that was last attempted; null before.' }),
  })
  .meta({ title: 'EventAddress', description: 'An address to which events of the app are sent.' })
export const created = address
  .extend({
    secret: z.string().meta({
      description: 'Signs what is sent to it. It is never returned again.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
  })
  .meta({ title: 'NewEventAddress', description: 'A new address with its secret.' })
