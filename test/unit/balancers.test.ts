import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { envelope } from '../../rest-facade/envelope.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import { corsHeaders, preflightHeaders } from '../../server/http/cors.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const [, nginx] = /^```nginx\n(.*?)^```$/ms.exec(read('docs/production.md'))!

// test/verify/topology/own-answers.test.ts asks the programs.
describe.each([
  ['haproxy.cfg', read('deploy/haproxy.cfg'), '%[var(txn.id)]', '%[var(txn.id)]'],
  ['the nginx in docs/production.md', nginx!, '$own_request_id', '$request_id'],
])('%s', (_, text, id, idOfWhatIsNotHttp) => {
  it('answers in the words and the envelope of the service', () => {
    const unavailable = JSON.stringify(envelope(errors.unavailable(), null, id))
    for (const section of sectionNames) {
      expect(JSON.stringify(envelope(errors.unavailable(), section, id))).toBe(unavailable)
    }
    expect(text).toContain(`'${unavailable}'`)
    expect(text).toContain(`'${JSON.stringify(envelope(errors.requestInvalid(), null, idOfWhatIsNotHttp))}'`)
    const oauth = { error: 'temporarily_unavailable', error_description: errors.unavailable().message }
    expect(text).toContain(`'${JSON.stringify(oauth)}'`)
    expect(text).toContain(`Retry-After ${errors.unavailable().headers['Retry-After']} `)
  })

  it('lets browsers read and send what the service does', () => {
    expect(text).toContain(`Access-Control-Expose-Headers "${corsHeaders['Access-Control-Expose-Headers']}"`)
    const allowed = preflightHeaders([])['Access-Control-Allow-Headers']
    expect(text).toContain(`Access-Control-Allow-Headers "${allowed}"`)
  })
})

it('haproxy.cfg and nginx have one page', () => {
  const pages = [read('deploy/haproxy.cfg'), nginx!].map((text) => /'(<!doctype html>.*?)<code>/.exec(text)?.[1])
  expect(pages[0]).toContain('<h1>')
  expect(pages[1]).toBe(pages[0])
})
