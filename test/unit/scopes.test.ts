import { describe, expect, it } from 'vitest'
import { procedures } from '../../routers/index.ts'
import type { Meta } from '../../routers/kernel/meta.ts'
import { firstPartyScopes, isFirstPartyScope, isScope, memberScopes, scopes } from '../../routers/kernel/scopes.ts'

const sections = { svc: 'apps', lms: 'lms', ntf: 'notify', directory: 'apps', dev: 'apps' } as const

describe('the registry of scopes', () => {
  it.each(Object.entries(scopes))('gives %s the section of its first segment', (name, { section }) => {
    expect(section).toBe(sections[name.split(/[.:]/)[0] as keyof typeof sections])
  })

  it('has each scope once, for members or for first-party clients', () => {
    expect([...memberScopes, ...firstPartyScopes]).toEqual(Object.keys(scopes))
  })

  it.each(['', 'svc', 'SVC.me.profile:read', '__proto__', 'constructor'])('does not know %j', (text) => {
    expect([isScope(text), isFirstPartyScope(text)]).toEqual([false, false])
  })

  it('agrees with the policy of every procedure', () => {
    const used = new Set<string>()
    for (const procedure of Object.values(procedures)) {
      const { scope, policy } = procedure._def.meta as Meta
      const { section: at, level: needed, firstParty } = policy.requires
      if (scope === null) continue
      used.add(scope)
      const { section, level, kind } = scopes[scope]
      expect([scope, section, level, kind]).toEqual([
        scope,
        at,
        needed ?? (firstParty ? 'developer' : 'hobby'),
        firstParty ? 'first-party' : 'member',
      ])
    }
    expect([...used].sort()).toEqual(Object.keys(scopes).sort())
  })
})
