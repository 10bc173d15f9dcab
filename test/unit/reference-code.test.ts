import { describe, expect, it } from 'vitest'
import type { Call } from '../../server/reference/code.js'
import { buildRequest, renderCode, tryParse } from '../../server/reference/code.js'

const field = (name: string, place: string, value: string, type = 'string') => ({ name, in: place, value, type })
const put = (more: Partial<Call> = {}): Call => ({
  id: 'storagePut',
  method: 'PUT',
  path: '/storage/{collection}/{key}',
  section: 'apps',
  base: 'https://a.test/v1',
  fields: [field('collection', 'path', 'c'), field('key', 'path', 'k'), field('scope', 'query', '')],
  body: '{"value":1}',
  ...more,
})
const valueIn = (code: string) => new Function(`return ${code}`)()
/** The argument of JSON.stringify, as JavaScript reads it. */
const sentBy = (code: string) => JSON.stringify(valueIn(/JSON\.stringify\((.*)\),\n\}\)$/s.exec(code)![1]!))

describe('a call as code', () => {
  it('leaves out what is empty, and names headers as the procedure does', () => {
    const fields = [...put().fields, field('If-None-Match', 'header', '*'), field('If-Match', 'header', '')]
    const code = renderCode(put({ fields }))
    expect(code.curl).toBe(`curl -X PUT 'https://a.test/v1/storage/c/k' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'if-none-match: *' \\
  -H 'content-type: application/json' -d '{"value":1}'`)
    expect(code.javascript).toContain(`    'if-none-match': '*',`)
    expect(code.sdk).toContain(`const answer = await store.put('k', 1, { ifNoneMatch: '*' })`)
    expect(code.trpc).toContain(`ifNoneMatch: '*'`)
    expect(renderCode(put({ fields: [...put().fields, field('scope', 'query', 'user')] })).sdk).toContain(
      `const store = api.storage('c', { scope: 'user' })\nconst answer = await store.put('k', 1)`,
    )
  })

  it('leaves out the headers that the function of the SDK does not take', () => {
    const headers = ['If-Match', 'If-None-Match', 'Idempotency-Key'].map((name) => field(name, 'header', 'x'))
    const sdk = (id: string, more: Partial<Call> = {}) =>
      renderCode(put({ id, fields: [...put().fields, ...headers], ...more })).sdk
    expect(sdk('storagePut')).toMatch(/store\.put\('k', 1, \{ ifMatch: 'x', ifNoneMatch: 'x' \}\)$/)
    expect(sdk('storageDelete', { method: 'DELETE', body: undefined })).toMatch(/delete\('k', \{ ifMatch: 'x' \}\)$/)
    expect(sdk('storageGet', { method: 'GET', body: undefined })).toMatch(/store\.get\('k'\)$/)
  })

  it('has numbers where the parameter is one, and text where what is typed is none', () => {
    const list = (limit: string) => {
      const fields = [field('collection', 'path', 'c'), field('limit', 'query', limit, 'integer')]
      return renderCode(
        put({ id: 'storageList', method: 'GET', path: '/storage/{collection}', fields, body: undefined }),
      )
    }
    expect(list('20').sdk).toContain(`.list({ limit: 20 })`)
    expect(list('20').trpc).toContain(`api.storage.list.query({ collection: 'c', limit: 20 })`)
    expect(list('20').javascript).toContain(`'https://a.test/v1/storage/c?limit=20'`)
    expect(list('1e400').trpc).toContain(`limit: '1e400'`)
  })

  it('has true and false where the parameter is one of them, and no SDK where that has no function', () => {
    const entries = (values: string) => {
      const fields = [field('collection', 'path', 'c'), field('values', 'query', values, 'boolean')]
      const path = '/collections/{collection}/entries'
      return renderCode(put({ id: 'storageEntries', method: 'GET', path, fields, body: undefined }))
    }
    expect(entries('false').trpc).toContain(`api.storage.entries.query({ collection: 'c', values: false })`)
    expect(entries('no').trpc).toContain(`values: 'no'`)
    expect(entries('').trpc).toContain(`api.storage.entries.query({ collection: 'c' })`)
    expect(entries('false').javascript).toContain(`'https://a.test/v1/collections/c/entries?values=false'`)
    expect(entries('false').sdk).toBeUndefined()
  })

  it.each([
    `{"value":"it's \\"quoted\\" \\\\ \\u0000\u2028"}`,
    '{"value":{"__proto__":{"a":1},"a-b":[],"constructor":null,"seven":{}}}',
    JSON.stringify({ value: Array.from({ length: 30 }, (_, i) => ({ [`name ${i}`]: [i, `${i}`, null, true] })) }),
  ])('is the body that is typed, read by JavaScript: %s', (body) => {
    expect(sentBy(renderCode(put({ body })).javascript)).toBe(JSON.stringify(JSON.parse(body)))
  })

  it.each(['{"value":1e400}', '{"value":12345678901234567890}', '{"value":', '{"value":0.10}', '{"value":"\\u0061"}'])(
    'sends by curl and fetch alone a body that JavaScript would write differently: %s',
    (body) => {
      const { curl, javascript, sdk, trpc } = renderCode(put({ body }))
      expect(curl).toContain(`-d '${body}'`)
      expect(valueIn(/body: (.*),\n/.exec(javascript)![1]!)).toBe(body)
      expect([sdk, trpc]).toEqual(Array(2).fill(expect.stringMatching(/^\/\/ Only curl and JavaScript/)))
    },
  )

  it.each(['[1]', '"text"', 'null'])('has no input where the body is no object: %s', (body) => {
    expect(renderCode(put({ body })).trpc).toMatch(/^\/\//)
  })

  it('ends no quotation with what is typed', () => {
    const hostile = `'; rm -rf / # \${x} \` " \\`
    const fields = [field('collection', 'path', hostile), field('key', 'path', '{collection}$&')]
    const { url } = buildRequest(put({ fields }))
    expect(new URL(url).pathname.split('/').slice(-2).map(decodeURIComponent)).toEqual([hostile, '{collection}$&'])
    expect(url).not.toContain("'")
    const code = renderCode(put({ fields, body: JSON.stringify({ value: hostile }) }))
    expect(code.curl).toContain(`{"value":"'\\''; rm -rf`)
    expect(sentBy(code.javascript)).toBe(JSON.stringify({ value: hostile }))
  })
})

describe('JSON that JavaScript reads', () => {
  it.each(['1.0', '1e400', '{"a":1,"a":1}', '', '{'])('is not %s', (text) => {
    expect(tryParse(text)).toBeUndefined()
  })

  it.each(['null', ' { "a" : [ 1 , "b c" ] }\n'])('is %s', (text) => {
    expect(tryParse(text)).toEqual({ value: JSON.parse(text) })
  })
})
