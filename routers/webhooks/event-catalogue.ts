import { z } from 'zod'
import type { Database, Transaction } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { jsonText, statement, text } from '../../prisma/pg/statement.ts'
import type { Context } from '../kernel/context.ts'
import { internal } from '../kernel/endpoint.ts'
import { errors, withError } from '../kernel/errors.ts'
import type { Json } from '../kernel/json.ts'
import { json } from '../kernel/json.ts'
import { providerPlatform } from '../kernel/policies.ts'
import { toJson } from '../kernel/raw-json/text.ts'
import { characterSentence, lineFault } from '../kernel/text-input.ts'
import type { EventType } from './event-types.ts'
import { eventTypes } from './event-types.ts'
import { EVENT_TYPE } from './rules.ts'

/** Per provider. With examples of at most 4 KiB each, a page shows all of them. */
const MAX_EVENT_TYPES = 100
const MAX_EXAMPLE_BYTES = 4 * 1024

const eventType = z.object({ type: z.string(), description: z.string(), example: json })
export const eventTypeList = z.object({ items: z.array(eventType) })

/** The event types of a provider: the service's own, then those that the platform describes, by type. */
export async function listEventTypes(db: Database, providerId: string): Promise<EventType[]> {
  const select = { type: true, description: true, example: true }
  const type = { notIn: eventTypes.map((own) => own.type) }
  const rows = await db.eventKind.findMany({
    where: { providerId, type },
    orderBy: { type: 'asc' },
    take: MAX_EVENT_TYPES,
    select,
  })
  return [...eventTypes, ...rows.map((row) => ({ ...row, example: row.example as Json }))]
}

const statements = {
  example: statement(
    'event_kind_example',
    'SELECT example::text FROM "EventKind" WHERE "providerId" = $provider AND type = $type',
    { provider: text, type: text },
    { example: text },
  ),
  describe: statement(
    'event_kind_describe',
    `INSERT INTO "EventKind" ("providerId", type, description, example) VALUES ($provider, $type, $description, $example)
      ON CONFLICT ("providerId", type) DO UPDATE SET description = excluded.description, example = excluded.example`,
    { provider: text, type: text, description: text, example: jsonText },
    {},
  ),
  lock: statement(
    'provider_lock',
    `SELECT id FROM "Organisation" WHERE id = $provider AND kind = 'provider' FOR NO KEY UPDATE`,
    { provider: text },
    { id: text },
  ),
}

/** The example of an event type, as JSON text. Throws 400 for a type that is not in the catalogue. */
export async function readExample(db: Database, providerId: string, type: string): Promise<string> {
  const own = eventTypes.find((one) => one.type === type)
  if (own) return JSON.stringify(own.example)
  const [row] = await db.execute(statements.example, { provider: providerId, type })
  if (!row) throw errors.eventTypeUnknown()
  return row.example
}

const refused = (message: string) => () => errors.inputInvalid(400, message)
const exampleErrors = {
  missing: refused('example is missing.'),
  notJson: refused('example contains something that JSON cannot represent.'),
  tooDeep: refused('example is nested too deeply.'),
}
const tooLarge = refused(`example is larger than ${MAX_EXAMPLE_BYTES / 1024} KiB.`)
const refuseOwnType = refused("type is one of the service's own kinds.")

const MAX_DESCRIPTION = 500

function wrongDescription(text: unknown): string {
  const fault = typeof text === 'string' ? lineFault(text, MAX_DESCRIPTION) : undefined
  const sentence = fault && characterSentence(fault)
  return `description ${sentence ?? `must be 1 to ${MAX_DESCRIPTION} characters without control characters.`}`
}
const DESCRIPTION = { error: ({ input }: { input: unknown }) => wrongDescription(input) }

const type = z
  .string(withError('eventTypeInvalid'))
  .regex(EVENT_TYPE, withError('eventTypeInvalid'))
  .refine((type) => eventTypes.every((own) => own.type !== type), { error: refuseOwnType().message })

/** Describing a type again replaces its description. */
export const describe = internal('ntf.events:write', providerPlatform, {
  summary: 'Describes an event type of the provider’s apps in the catalogue, or replaces its description',
  fails: ['providerUnknown', 'tooManyEventKinds'],
})
  .input(
    z.object({
      type,
      description: z
        .string(DESCRIPTION)
        .trim()
        .refine((text) => lineFault(text, MAX_DESCRIPTION) === undefined, DESCRIPTION)
        .meta({ description: 'When it is published, and what it means' }),
      example: json.refine((example) => example !== undefined, { error: exampleErrors.missing().message }),
    }),
  )
  .output(eventType)
  .mutation(async ({ ctx: { core, provider }, input: { type, description, example } }) => {
    const text = await toJson(example, exampleErrors)
    if (Buffer.byteLength(text) > MAX_EXAMPLE_BYTES) throw tooLarge()
    await core.db.$transaction(async (tx) => {
      await lockProvider(tx, provider)
      const others = await tx.eventKind.count({ where: { providerId: provider, type: { not: type } } })
      if (others >= MAX_EVENT_TYPES) throw errors.tooManyEventKinds()
      await executeIn(tx, statements.describe, { provider, type, description, example: text })
    })
    return { type, description, example: JSON.parse(text) as Json }
  })

/** Serialises the descriptions of one provider's types, so that they are counted correctly. */
async function lockProvider(tx: Transaction, id: string) {
  const rows = await executeIn(tx, statements.lock, { provider: id })
  if (rows.length === 0) throw errors.providerUnknown()
}

/** Also one that is not in the catalogue. Events of it can be published as before. */
export const undescribe = internal('ntf.events:write', providerPlatform, {
  summary: 'Removes an event type from the catalogue',
})
  .input(z.object({ type }))
  .output(z.object({ type: z.string() }))
  .mutation(async ({ ctx: { core, provider }, input: { type } }) => {
    await core.db.eventKind.deleteMany({ where: { providerId: provider, type } })
    return { type }
  })

export const kinds = internal('ntf.events:write', providerPlatform, {
  summary: 'The event catalogue: the service’s own types, and the described ones',
})
  .output(eventTypeList)
  .query(async ({ ctx: { core, provider } }: { ctx: Context & { provider: string } }) => ({
    items: await listEventTypes(core.db, provider),
  }))
