import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { identityScopes } from '../../routers/kernel/identity-scopes.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { languages } from '../../server/browser/language.ts'
import { words } from '../../server/browser/words/words.ts'
import { consentPage } from '../../server/oauth/pages/views/consent.ts'
import { changes, findKind } from '../../server/oauth/pages/views/scope-words.ts'
import { times } from '../support/rounds.ts'
import { hostileText, listPages, textCount } from './random-pages.ts'
import { samplePages } from './sample-pages.ts'
import { tokens } from './tokens.ts'

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
      expect(page).not.toMatch(/\sstyle=|<style|<script(?!>alert)|undefined|\bnull\b|\[object/)
    }
  })
})

describe('the texts', () => {
  it.each(asked)('say what %s allows, in each language', (scope) => {
    const texts = languages.map((language) => {
      const text = words[language].scopes[scope]
      expect(tokens(consentPage({ ...consent, w: words[language], scopes: [scope] })).texts).toContain(text)
      return text
    })
    expect(new Set(texts).size).toBe(languages.length)
    expect(texts.join()).not.toMatch(/webhook|\bapi\b|json/i)
  })

  it('avoid direct address in German', () => {
    const list = (value: unknown): string[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(list) : [String(value)]
    const german = list(words.de)
    expect(german.length).toBeGreaterThan(150)
    for (const text of german)
      expect(text).not.toMatch(
        /\b(?:Sie(?! darf)|Ihnen|Ihre[mnrs]?(?! eigenen)|[Dd]u|[Dd]ir|[Dd]ich|[Dd]eine?[mnrs]?)\b/,
      )
  })
})

describe('the consent page', () => {
  const fieldsets = (page: string) => page.match(/<fieldset.*?<\/fieldset>/gs) ?? []
  const view = { ...consent, w: words.en }

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
  ] as const)('says for how long an app is allowed, in %s', (language, text) => {
    const page = consentPage({ ...view, w: words[language], scopes: ['svc.me.events:read'] })
    expect(page).toContain(text)
  })

  it('names the kind of organisation by its scopes', () => {
    expect(findKind(['svc.me.events:read', 'svc.apps.storage:read'])).toBe('club')
    expect(findKind(['lms.me.quizzes:write'])).toBe('academy')
    expect(findKind(['ntf.apps.webhook:read'])).toBe('provider')
    expect(findKind(['svc.me.events:read', 'lms.me.quizzes:write'])).toBe('organisation')
    expect(findKind([])).toBe('organisation')
  })
})
