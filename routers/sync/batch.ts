import { z } from 'zod'
import type { Call } from '../kernel/context.ts'
import { endpoint, inputError } from '../kernel/endpoint.ts'
import { ApiError, errors, nameOperation, withError } from '../kernel/errors.ts'
import { clubStore } from '../kernel/policies.ts'
import type { Applied } from '../storage/apply.ts'
import { apply } from '../storage/apply.ts'
import { entry, etag, storedValue } from '../storage/entry.ts'
import { keyHeader, storeKey } from '../storage/once.ts'
import type { Operation } from '../storage/operation.ts'
import { conditional, toCollection } from '../storage/procedures.ts'
import { conditions } from '../storage/rules.ts'
import { setUsage, usedBytes } from '../storage/usage.ts'

const MAX_OPERATIONS = 25

const { collection, key, scope, ifMatch, ifNoneMatch } = conditional.shape

const takesValue = (op: string) => op === 'put' || op === 'merge' || op === 'add'

const operation = z
  .strictObject(
    {
      op: z.enum(['put', 'merge', 'add', 'delete', 'get'], withError('opInvalid')).meta({
        description:
          '`put` creates or replaces an entry, `merge` changes members of an object, `add` adds to a number, `delete` removes the entry, `get` reads it.',
        examples: ['put'],
      }),
      collection,
      key,
      scope,
      value: storedValue.optional().meta({
        description:
          'What `put` stores: any JSON, byte for byte. Of `merge`, a JSON Merge Patch (RFC 7396) that is an object: null removes a member, and what it does not name stays as it is. Of `add`, a number.',
        examples: [{ points: 3 }],
      }),
      pointer: z
        .string(withError('pointerInvalid'))
        .max(1024, withError('pointerInvalid'))
        .regex(/^(?:\/(?:[^~/]|~[01])*)*$/, withError('pointerInvalid'))
        .optional()
        .meta({
          description:
            'Of `add`, where the number is: a JSON pointer (RFC 6901). The sum is exact, with at most 40 digits.',
          examples: ['/points'],
        }),
      ifMatch,
      ifNoneMatch,
    },
    withError('operationInvalid'),
  )
  .refine(({ op, value }) => !takesValue(op) || value !== undefined, withError('valueMissing'))
  .refine(({ op, value }) => takesValue(op) || value === undefined, withError('valueUnexpected'))
  .refine(({ op, pointer }) => (op === 'add') === (pointer !== undefined), withError('pointerInvalid'))
  .meta({ title: 'BatchOperation', description: 'A write or a read of one entry.' })

const input = z.object({
  idempotencyKey: storeKey,
  operations: z
    .array(operation, withError('operationsInvalid'))
    .min(1, withError('operationsInvalid'))
    .max(MAX_OPERATIONS, withError('operationsInvalid'))
    .meta({
      description: `1 to ${MAX_OPERATIONS} operations, applied in their order: each sees what those before it have done.`,
      examples: [
        [
          { op: 'put', collection: 'scores', key: 'alice', value: { points: 3 } },
          { op: 'get', collection: 'scores', key: 'bob' },
        ],
      ],
    }),
})

const found = entry
  .extend({
    etag: z.string().meta({
      description: 'Identifies this version of the entry, for `ifMatch`.',
      examples: ['"5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20"'],
    }),
  })
  .meta({ title: 'BatchEntry', description: 'The result of a `get`: the entry.' })
const missing = z
  .object({
    key: found.shape.key,
    missing: z.literal(true).meta({ description: 'There is no entry with this key.', examples: [true] }),
  })
  .meta({ title: 'BatchMissing', description: 'The result of a `get` of a key without an entry.' })
const stored = found
  .pick({ etag: true, updatedAt: true })
  .meta({ title: 'BatchStored', description: 'The result of a `put`, `merge` or `add`.' })
const deleted = z
  .object({
    deleted: z.boolean().meta({ description: 'Whether there was an entry to remove.', examples: [true] }),
  })
  .meta({ title: 'BatchDeleted', description: 'The result of a `delete`.' })

const output = z.object({
  results: z.array(z.union([found, missing, stored, deleted])).meta({
    description:
      'The result of each operation, at its index: of `get` the entry, or its key and `missing`; of `put`, `merge` and `add` the new ETag; of `delete` whether there was an entry.',
    examples: [
      [
        { etag: '"5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20"', updatedAt: 1777802400 },
        { key: 'bob', missing: true },
      ],
    ],
  }),
})

/** An error of an operation's input, which names its index. Its fields have errors of the catalogue, or are of another type. */
function namedError(error: z.core.$ZodError, type: string): ApiError {
  const { path, message } = error.issues[0]!
  const index = path[1]
  if (typeof index !== 'number') return inputError(error, type)
  return nameOperation(index, message in errors ? inputError(error, type) : errors.operationInvalid())
}

async function textAt(call: Call, index: number, value: unknown) {
  try {
    return await call.text(value)
  } catch (error) {
    throw error instanceof ApiError && error.status === 400 ? nameOperation(index, error) : error
  }
}

function placeAt(ctx: Parameters<typeof toCollection>[0], index: number, given: Parameters<typeof toCollection>[1]) {
  try {
    return toCollection(ctx, given)
  } catch (error) {
    throw nameOperation(index, error as ApiError)
  }
}

/** All operations or none, in one transaction. A batch counts once for the rate limit. */
export const batch = endpoint('POST /batch', 'svc.apps.storage:write', clubStore, {
  section: 'sync',
  summary: 'Several writes and reads at once',
  description:
    'Applies up to 25 operations in their order, all of them or none. An operation whose `ifMatch` or `ifNoneMatch` fails refuses the batch with 412, and the message names its index, from 0; so `get` with `ifMatch` makes a batch depend on an entry that it does not change. A key may occur in several operations. `merge` and `add` need no ETag to lose no concurrent change; each counts its value, and its entry before and after: together at most 1 MiB, so one edit takes an entry of up to 512 KiB. The quota, and the limit of 1,000,000 entries, count at the end: a batch may exceed it in between. Removing what does not exist is no error.',
  returns: 'Every operation has been applied.',
  headers: keyHeader,
  rawItems: { list: 'operations', field: 'value' },
  reportsUsage: true,
  insertsRow: true,
  takesKey: true,
  fails: ['operationsNotAlone', 'operationsTooLarge', 'editsTooLarge', 'readsTooLarge', 'quotaExceeded'],
  operationFails: [
    'scopeOrgOnly',
    'valueTooDeep',
    'mergeNotObject',
    'nameTwice',
    'notNumber',
    'numberTooLong',
    'entryNotOwn',
    'entryChanged',
  ],
})
  // Before the input, whose body is refused for its size as well.
  .use(async ({ ctx: { core, call, app, club }, type, next }) => {
    const result = await next()
    if (result.ok) return result
    const { code, cause } = result.error
    if (code === 'PAYLOAD_TOO_LARGE' || code === 'PRECONDITION_FAILED' || code === 'FORBIDDEN') {
      setUsage(call, await usedBytes(core.db, { app, club }), core.storageQuotaBytes)
    }
    if (cause instanceof z.core.$ZodError) throw namedError(cause, type)
    return result
  })
  .input(input)
  .output(output)
  .mutation(async ({ ctx, input: { operations, idempotencyKey: key } }) => {
    const { core, call, app, club, member, ruled } = ctx
    const prepared: Operation[] = []
    for (const [index, { op, key, value, pointer, ...given }] of operations.entries()) {
      const text = takesValue(op) ? await textAt(call, index, value) : null
      prepared.push({ op, ...placeAt(ctx, index, given), key, value: text, pointer, ...conditions(given) })
    }
    const { db, storageQuotaBytes: quotaBytes } = core
    const once = key === undefined ? undefined : { client: call.principal.client, key, method: 'POST' as const }
    const batch = { operations: prepared, at: core.now() / 1000, quotaBytes, once }
    const { applied, used } = await apply(db, { app, club, member, ruled }, batch, call.reserve)
    setUsage(call, used, quotaBytes)
    for (const { op, owner, collection } of prepared)
      if (op !== 'get') core.watch.wake({ app, club, owner, collection })
    return { results: applied.map((one, index) => toResult(call, operations[index]!.key, one)) }
  })

function toResult(call: Call, key: string, { outcome, value, version, updatedAt }: Applied) {
  if (outcome === 'found') return { key, value: call.json([value!]), updatedAt: updatedAt!, etag: etag(version!) }
  if (outcome === 'stored') return { etag: etag(version!), updatedAt: updatedAt! }
  if (outcome === 'missing') return { key, missing: true as const }
  return { deleted: outcome === 'deleted' }
}
