import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isMessage, messageOf } from '../support/documented.ts'
import type { Reply } from '../support/request.ts'
import { collectAnswers, nameOf, places, rowsOf } from './collect-answers.ts'
import { provoke } from './provoke-answers.ts'

/** Nothing that is documented never occurs; that nothing else occurs is compared with each answer (test/support/documented.ts). */
let answers: Map<string, Reply[]>
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  answers = await collectAnswers((end) => void ends.unshift(end))
})
afterAll(async () => {
  for (const end of ends) await end()
})

describe.each(places.map((place) => [nameOf(place), place] as const))('%s', (name, { section, operation }) => {
  it('gives each documented answer', () => {
    const given = (status: string, documented: unknown) =>
      answers.get(name)!.some((reply) => {
        const at = { section, brand: 'the service' }
        if (reply.status !== Number(status)) return false
        return documented === undefined || isMessage(messageOf(documented), messageOf(reply.body), at)
      })
    const missing = Object.entries(operation.responses).flatMap(([status, { content }]) => {
      const examples = Object.entries(content?.['application/json'].examples ?? {})
      if (examples.length === 0 || status < '400') return given(status, undefined) ? [] : [status]
      return examples.filter(([, { value }]) => !given(status, value)).map(([row]) => `${status} ${row}`)
    })
    expect(missing).toEqual([])
  })

  it('gives each documented header and shape', () => {
    const missing = Object.entries(operation.responses).flatMap(([status, { headers = {}, content }]) => {
      const replies = answers.get(name)!.filter((reply) => reply.status === Number(status))
      const has = (header: string) => replies.some((reply) => reply.headers[header.toLowerCase()] !== undefined)
      const { oneOf = [] } = (content?.['application/json'].schema ?? {}) as { oneOf?: { $ref: string }[] }
      const shapes = oneOf.map(({ $ref }) => ($ref.endsWith('Detail') ? 'detail' : 'error'))
      return [
        ...Object.keys(headers).filter((header) => !has(header)),
        ...shapes.filter((shape) => !replies.some(({ body }) => shape in body)),
      ].map((one) => `${status} ${one}`)
    })
    expect(missing).toEqual([])
  })
})

describe('the ways to provoke an answer', () => {
  it('are those of documented answers', () => {
    const rows = new Set(places.flatMap(rowsOf))
    const elsewhere = ['requestInvalid', 'bodyTooSlow', 'internal', 'unavailable']
    expect([...rows].sort()).toEqual([...Object.keys(provoke), ...elsewhere].sort())
  })
})
