import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { platformClaims } from '../support/platform.ts'
import { times } from '../support/rounds.ts'
import type { AnyRecord } from './records.ts'
import { directoryWorld, ofKind } from './records.ts'

const service = directoryWorld()
const world = () => service.current

const person = (id: string) => ({ id, firstName: 'J', lastName: 'J', email: '' })
const people = () => ofKind(world(), 'people')
const refused = async (kind: 'people' | 'memberships', items: AnyRecord[]) => {
  const headers = { authorization: `Bearer ${await world().token(platformClaims(world()))}` }
  const { status, body } = await world().internal('POST', `/trpc/directory.${kind}.upsert`, {
    headers,
    body: { items },
  })
  return { status, refused: body.error?.data.refused }
}

/** An id with letters that can be written in two ways, each of them composed or not. */
const letters = fc.array(fc.constantFrom('ö', 'é', 'Å', 'ộ', 'が', 'j', 'x'), { minLength: 1, maxLength: 5 })
const twoWritings = fc
  .record({ letters, forms: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }) })
  .map(({ letters, forms }) => {
    const written = (from: number) =>
      letters.map((letter, i) => letter.normalize(forms[(from + i) % 10] ? 'NFC' : 'NFD')).join('')
    return [written(0), written(5)] as const
  })
  .filter(([a, b]) => a !== b)

describe('an id whose letters are composed differently', () => {
  it('is refused for a new person, stored or in the same call, and the first one stays', async () => {
    await fc.assert(
      fc.asyncProperty(twoWritings, async ([a, b]) => {
        const own = randomUUID()
        const [first, second] = [`${own}-${a}`, `${own}-${b}`]
        const reason = expect.stringMatching(/ is already an id whose letters are composed differently /)
        const refusal = (index: number) => ({ status: 400, refused: [{ index, field: 'id', reason }] })
        expect(await refused('people', [person(first), person(second)])).toEqual(refusal(1))
        expect(await world().db.person.count({ where: { id: { startsWith: own } } })).toBe(0)
        await people().upsert({ items: [person(first)] })
        expect(await refused('people', [person(second)])).toEqual(refusal(0))
        expect(await world().db.person.findMany({ where: { id: { startsWith: own } }, select: { id: true } })).toEqual([
          { id: first },
        ])
      }),
      { numRuns: times(200, 10) },
    )
  })

  it('is named as such where a record refers to it', async () => {
    const [club, composed, decomposed] = [randomUUID(), 'jörg', 'jo\u0308rg']
    await ofKind(world(), 'organisations').upsert({ items: [{ id: club, kind: 'club', name: 'Club' }] })
    await people().upsert({ items: [person(composed)] })
    const items = [
      { organisation: club, person: decomposed },
      { organisation: club, person: 'björn' },
    ]
    expect(await refused('memberships', items)).toEqual({
      status: 400,
      refused: [
        {
          index: 0,
          field: 'person',
          reason: `"${decomposed}" is not the id of a person: the letters of the stored one are composed differently (Unicode NFC and NFD).`,
        },
        { index: 1, field: 'person', reason: '"björn" is not the id of a person.' },
      ],
    })
    expect(await world().db.membership.count({ where: { organisationId: club } })).toBe(0)
  })

  it('is taken in an update of its own record', async () => {
    const id = `jo\u0308rg-${randomUUID()}`
    await people().upsert({ items: [person(id)] })
    expect(await people().upsert({ items: [{ ...person(id), lastName: 'New' }] })).toMatchObject({ changed: 1 })
  })
})
