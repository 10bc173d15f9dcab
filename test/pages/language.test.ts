import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import fc from 'fast-check'
import Koa from 'koa'
import { describe, expect, it } from 'vitest'
import type { Language, PortalLanguage } from '../../server/browser/language.ts'
import { languages, portalLanguage, requestLanguage } from '../../server/browser/language.ts'

const app = new Koa()
function createContext(acceptLanguage: string | undefined, cookie?: string) {
  const request = new IncomingMessage(new Socket())
  if (acceptLanguage !== undefined) request.headers['accept-language'] = acceptLanguage
  if (cookie !== undefined) request.headers.cookie = cookie
  return app.createContext(request, new ServerResponse(request))
}

const readLanguage = (acceptLanguage: string | undefined, cookie?: string) =>
  requestLanguage(createContext(acceptLanguage, cookie))

/** Any UTF-16 code units. fast-check's unit `binary` takes a second to build. */
const anyHeader = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) })

describe('the language', () => {
  it.each<[string | undefined, Language]>([
    [undefined, 'en'],
    ['de', 'de'],
    ['DE-at', 'de'],
    ['pt, de;q=0.3', 'de'],
    ['fr-CH, de;q=0.3', 'fr'],
    ['nl;q=0.4, es-419, it;q=0.9', 'es'],
    ['en;q=0.5, de;q=0.8', 'de'],
    ['de;q=0.8,en;q=0.9', 'en'],
    ['de;q=0.5, en;q=0.5', 'de'],
    ['de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7', 'de'],
    ['de;q=0', 'en'],
    ['en;q=0, *', 'de'],
    ['en;q=0.1, *;q=0.5', 'de'],
    ['pt', 'en'],
    ['den, deutsch', 'en'],
    ['de ; q=1.000 , en;q=0.999', 'de'],
    [',,;;q=1,de', 'de'],
  ])('for %j is %s', (header, language) => {
    expect(readLanguage(header)).toBe(language)
  })

  it.each<[string, Language, PortalLanguage]>([
    ['language=it', 'it', 'de'],
    ['one=two; language=en', 'en', 'en'],
    ['language=pt', 'de', 'de'],
    ['language=', 'de', 'de'],
    ['xlanguage=fr', 'de', 'de'],
  ])(
    'for the cookie %j of a German browser is %s on pages for members, and %s in the portal',
    (cookie, own, portal) => {
      expect(readLanguage('de', cookie)).toBe(own)
      expect(portalLanguage(createContext('de', cookie))).toBe(portal)
    },
  )

  it('is one of ours for any header, without delay', () => {
    fc.assert(fc.property(anyHeader, (header) => languages.includes(readLanguage(header))))
    const started = process.cpuUsage()
    for (const piece of [' ', ';', ',', 'de-', 'de;q=', 'q=0.', '*']) readLanguage(piece.repeat(16_384 / piece.length))
    expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500)
  })
})
