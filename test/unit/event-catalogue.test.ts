import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { eventTypes, germanDescriptions } from '../../routers/webhooks/event-types.ts'
import { EVENT_TYPE } from '../../routers/webhooks/rules.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/events.md'), 'utf8')

it('the table in docs/events.md is the event catalogue', () => {
  const rows = eventTypes.map(
    ({ type, description, example }) => `| \`${type}\` | ${description} | \`${JSON.stringify(example)}\` |\n`,
  )
  expect(page).toContain(`| Type | When | Example of \`data\` |\n|---|---|---|\n${rows.join('')}\n`)
})

it('the portal describes the event catalogue in German', () => {
  expect([...germanDescriptions.keys()]).toEqual(eventTypes.map(({ type }) => type))
})

it('the types of the event catalogue are valid', () => {
  for (const { type } of eventTypes) expect(type).toMatch(EVENT_TYPE)
})
