import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { FieldType } from '../../routers/directory/fields.ts'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { listFields, recordTypeNames } from '../../routers/directory/record-types.ts'
import { codePoint } from '../support/code-point.ts'
import { platformClaims } from '../support/platform.ts'
import { times } from '../support/rounds.ts'

import type { AnyRecord } from './records.ts'
import { directoryWorld, seen, storeSamples } from './records.ts'
import { sampleRecords } from './sample-records.ts'

const world = directoryWorld()
const samples: Record<RecordTypeName, AnyRecord> = sampleRecords()
beforeAll(async () => {
  await storeSamples(world, samples)
})

const text = fc.oneof(
  fc.string({ unit: codePoint, maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '__proto__',
    'a\0b',
    '\ud800',
    '😀\u{10ffff}\u202e',
    '"\\\n</script>%00',
    ':now',
    '$1',
    "'; --",
    '%',
  ),
  fc.constantFrom('x'.repeat(70_000), 'ü'.repeat(600), '\u0001'.repeat(300), '\u2028\ufeff\uffff'),
)
const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, -0, 1e308, 5e-324, 2 ** 31, 2 ** 53, -62_135_596_801, 253_402_300_800),
)
const time = fc.oneof(
  number,
  fc.date().map((date) => (Number.isNaN(date.getTime()) ? 'NaN' : date.toISOString())),
  fc.constantFrom(
    '9999-12-31T23:59:59.9999Z',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-12:00',
    '2016-12-31T23:59:60Z',
    '2026-01-01',
    'infinity',
    'now',
  ),
)
const ids = fc.constantFrom(
  ...Object.values(samples).flatMap(({ id, serial }) => id ?? serial ?? []),
  samples.lessons.academy,
)
const question = fc.record(
  {
    id: fc.oneof(fc.constantFrom('q1', 'q2', 'q3'), text),
    type: fc.constantFrom('single', 'multiple', 'text', 'image', 'file', 'other'),
    text,
    options: fc.uniqueArray(text),
    solution: fc.array(text),
    extra: fc.anything(),
  },
  { requiredKeys: ['id', 'type', 'text'] },
)
const values: Record<FieldType, fc.Arbitrary<unknown>> = {
  id: fc.oneof(ids, text),
  text,
  number,
  boolean: fc.boolean(),
  time,
  date: fc.oneof(
    fc.constantFrom('2024-02-29', '2023-02-29', '0001-01-01', '9999-12-31', '10000-01-01', 'infinity'),
    text,
  ),
  choice: fc.constantFrom('club', 'academy', 'draft', 'published', 'open', 'closed', 'member', 'trainer', 'toString'),
  list: fc.array(fc.oneof(ids, text), { maxLength: 5 }),
  questions: fc.array(question, { maxLength: 4 }),
}

/** The sample with some fields replaced, left out or added. */
const makeRecord = (recordType: RecordTypeName) =>
  fc
    .tuple(
      fc.record(
        Object.fromEntries(
          listFields(recordType).map(({ name, type }) => [
            name,
            fc.oneof({ weight: 6, arbitrary: values[type] }, fc.jsonValue()),
          ]),
        ),
        { requiredKeys: [] },
      ),
      fc.array(fc.constantFrom(...listFields(recordType).map(({ name }) => name)), { maxLength: 2 }),
    )
    .map(([changes, without]) => {
      const all: AnyRecord = { ...samples[recordType], ...changes }
      return Object.fromEntries(Object.entries(all).filter(([name]) => !without.includes(name)))
    })

/** The sample with a text above 64 KiB, in each of its fields that take one. */
const longTexts = (recordType: RecordTypeName) =>
  listFields(recordType).flatMap(({ name, type }): [[AnyRecord]][] => {
    const long = 'x'.repeat(70_000)
    const value = { text: long, list: [long], questions: [{ id: 'q1', type: 'text', text: long }] }[type as string]
    return value === undefined ? [] : [[[{ ...samples[recordType], [name]: value }]]]
  })

async function post(procedure: string, input: unknown) {
  const headers = { authorization: `Bearer ${await world.token(platformClaims(world))}` }
  const body = JSON.stringify(input)
  // Larger ones are 413 before they are read.
  fc.pre(Buffer.byteLength(body) < 1_000_000)
  return world.internal('POST', `/trpc/directory.${procedure}`, { headers, body })
}

describe('hostile records', () => {
  it.each(recordTypeNames)('of %s are taken, and shown with status 200, or refused with 400', async (recordType) => {
    const counts = { taken: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 8, arbitrary: makeRecord(recordType) }, fc.jsonValue()), {
          minLength: 1,
          maxLength: 3,
        }),
        async (items) => {
          const { status, body } = await post(`${recordType}.upsert`, { items })
          if (status === 400) {
            counts.refused++
            const { refused } = body.error.data
            expect(refused, JSON.stringify(body)).not.toHaveLength(0)
            for (const { index, field, reason } of refused) {
              expect(items).toHaveProperty([index])
              expect(field).toBeTypeOf('string')
              expect(reason).toMatch(/\.$/)
            }
            return
          }
          expect(status, JSON.stringify({ items, body })).toBe(200)
          counts.taken++
          const headers = { authorization: `Bearer ${await world.token(platformClaims(world))}` }
          const list = await world.internal('GET', `/trpc/directory.${recordType}.list`, { headers })
          expect(list.status, JSON.stringify(items)).toBe(200)
          const shown = await seen(world, samples as never)
          for (const answer of Object.values(shown))
            expect([200, 404], JSON.stringify(items)).toContain(typeof answer === 'object' ? 200 : answer)
          await storeSamples(world, samples)
        },
      ),
      { numRuns: times(12, 6), examples: longTexts(recordType) },
    )
    expect(counts.taken + counts.refused).toBeGreaterThan(0)
  })

  it.each(recordTypeNames)('ids of %s end something, or nothing, or are refused with 400', async (recordType) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(text, makeRecord(recordType), fc.jsonValue()), { minLength: 1, maxLength: 3 }),
        async (ids) => {
          const { status, body } = await post(`${recordType}.end`, { ids })
          expect([200, 400], JSON.stringify({ ids, body })).toContain(status)
        },
      ),
      { numRuns: times(12, 3) },
    )
  })
})
