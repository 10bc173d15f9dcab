import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import Koa from 'koa'
import { describe, expect, it } from 'vitest'
import type { Language } from '../../server/browser/language.ts'
import { requestLanguage } from '../../server/browser/language.ts'

const app = new Koa()
function readLanguage(acceptLanguage: string | undefined) {
  const request = new IncomingMessage(new Socket())
  if (acceptLanguage !== undefined) request.headers['accept-language'] = acceptLanguage
  return requestLanguage(app.createContext(request, new ServerResponse(request)))
}

/** Any UTF-16 code units. fast-check's unit `binary` takes a second to build. */
const anyHeader = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) })

describe('the language', () => {
  it.each<[string | undefined, Language]>([
    [undefined, 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['fr, de;q=0.3', 'de'],
    ['en;q=0.5, de;q=0.8', 'de'],
    ['de;q=0.8,en;q=0.9', 'en'],
    ['de;q=0.5, en;q=0.5', 'de'],
    ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', 'de'],
    ['de;q=0', 'en'],
    ['en;q=0, *', 'de'],
    ['en;q=0.1, *;q=0.5', 'de'],
    ['fr', 'en'],
    ['den, deutsch', 'en'],
    ['de ; q=1.000 , en;q=0.999', 'de'],
    [',,;;q=1,de', 'de'],
  ])('for %j is %s', (header, language) => {
    expect(readLanguage(header)).toBe(language)
  })

  it('is one of ours for any header, without delay', () => {
    fc.assert(fc.property(anyHeader, (header) => ['en', 'de'].includes(readLanguage(header))))
    const started = process.cpuUsage()
    for (const piece of [' ', ';', ',', 'de-', 'de;q=', 'q=0.', '*']) readLanguage(piece.repeat(16_384 / piece.length))
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500)
  })
})
