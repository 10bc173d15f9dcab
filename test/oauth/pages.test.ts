import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { identityScopes } from '../../routers/kernel/identity-scopes.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import type { Language } from '../../server/browser/language.ts'
import { Html } from '../../server/browser/pages/html.ts'
import { words } from '../../server/browser/pages/layout.ts'
import { consentPage } from '../../server/oauth/pages/views/consent.ts'
import { changes, describeScope, findKind } from '../../server/oauth/pages/views/scope-words.ts'
import { times } from '../support/rounds.ts'
import { hostileText, listPages, textCount } from './random-pages.ts'
import { samplePages } from './sample-pages.ts'
import { tokens } from './tokens.ts'

const languages: Language[] = ['en', 'de']
const asked = [...identityScopes, ...memberScopes]
const consent = {
  action: '/a',
  app: { name: 'Trainer', team: 'Builders' },
  member: 'Anna',
  organisations: [{ id: 'one', name: 'One' }],
  chosen: null,
  asker: { returnsTo: 'app.example.org' },
}

describe('a page', () => {
  it('keeps users’ text within its own text node or attribute', () => {
    const plain = listPages(Array.from({ length: textCount }, (_, at) => String(at))).map(
      (page) => tokens(page).skeleton,
    )
    fc.assert(
      fc.property(fc.uniqueArray(hostileText, { minLength: textCount, maxLength: textCount }), (texts) => {
        const pages = listPages(texts).map(tokens)
        expect(pages.map(({ skeleton }) => skeleton)).toEqual(plain)
        const shown = pages.flatMap((page) => page.texts).join('\n')
        for (const text of texts) expect(shown).toContain(text)
      }),
      { numRuns: times(800, 80) },
    )
  })

  it.each(languages)('is one document with a title, one heading and one main, in %s', (language) => {
    for (const page of Object.values(samplePages(language))) {
      expect(page.startsWith(`<!doctype html>\n<html lang="${language}">`)).toBe(true)
      for (const element of ['title', 'h1', 'main'])
        expect(page.match(new RegExp(`<${element}[ >]`, 'g'))).toHaveLength(1)
      expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
      expect(page).not.toMatch(/\sstyle=|<style|<script(?!>alert)|undefined|null|\[object/)
    }
  })
})

describe('the texts', () => {
  it.each(asked)('say what %s allows in both languages', (scope) => {
    const [en, de] = languages.map((language) => {
      const page = consentPage({ ...consent, language, scopes: [scope] })
      expect(tokens(page).texts).toContain(describeScope(scope, language))
      return describeScope(scope, language)
    })
    expect(de).not.toBe(en)
    expect([en, de].join()).not.toMatch(/webhook|\bapi\b|json/i)
  })

  it('avoid direct address in German', () => {
    const all = (value: unknown): string[] =>
      typeof value === 'function'
        ? all(value(new Html('…'), new Html('…')))
        : value instanceof Html
          ? [value.text]
          : typeof value === 'object' && value !== null
            ? Object.values(value).flatMap(all)
            : [String(value)]
    const german = [...all(words.de), ...asked.map((scope) => describeScope(scope, 'de'))]
    expect(german.length).toBeGreaterThan(60)
    for (const text of german)
      expect(text).not.toMatch(/\b(?:Sie|Ihnen|Ihre[mnrs]?(?! eigenen)|[Dd]u|[Dd]ir|[Dd]ich|[Dd]eine?[mnrs]?)\b/)
  })
})

describe('the consent page', () => {
  const fieldsets = (page: string) => page.match(/<fieldset.*?<\/fieldset>/gs) ?? []
  const view = { ...consent, language: 'en' } as const

  it('lists each scope once, ticked, reading apart from changing', () => {
    const [seeing, changing, ...more] = fieldsets(consentPage({ ...view, scopes: asked }))
    const ticked = (text?: string) =>
      [...text!.matchAll(/name="scope" value="([^"]+)" checked(?: disabled)?>/g)].map(([, scope]) => scope)
    expect(more).toEqual([])
    expect(ticked(seeing)).toEqual(asked.filter((scope) => !changes(scope)))
    expect(ticked(changing)).toEqual(['svc.apps.storage:write', 'lms.me.quizzes:write', 'ntf.apps.webhook:update'])
    expect(asked.filter(changes)).toHaveLength(3)
  })

  it('shows one club as text, several as radio buttons, and no button to allow without any', () => {
    const page = (organisations: typeof consent.organisations, chosen: string | null = null) =>
      consentPage({ ...view, organisations, chosen, scopes: ['svc.me.events:read'] })
    const two = [...consent.organisations, { id: 'two', name: 'Two' }]
    expect(page(consent.organisations)).toContain('<input type="hidden" name="organisation" value="one">')
    expect(page(two, 'two')).toContain('value="two" required checked>')
    expect(page(two, 'elsewhere').match(/type="radio"[^>]* checked>/g)).toEqual([
      'type="radio" name="organisation" value="one" required checked>',
    ])
    expect(page([])).not.toContain('value="allow"')
    expect(page([])).toContain('value="refuse"')
  })

  it.each([
    ['en', 'for a year or until'],
    ['de', 'ein Jahr lang, oder bis'],
  ] as const)('says for how long an app is allowed, in %s', (language, words) => {
    expect(consentPage({ ...view, language, scopes: ['svc.me.events:read'] })).toContain(words)
  })

  it('names the kind of organisation by its scopes', () => {
    expect(findKind(['svc.me.events:read', 'svc.apps.storage:read'])).toBe('club')
    expect(findKind(['lms.me.quizzes:write'])).toBe('academy')
    expect(findKind(['ntf.apps.webhook:read'])).toBe('provider')
    expect(findKind(['svc.me.events:read', 'lms.me.quizzes:write'])).toBe('organisation')
    expect(findKind([])).toBe('organisation')
  })
})
