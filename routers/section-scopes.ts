import { procedures } from './index.ts'
import { findSection } from './kernel/meta.ts'
import type { Scope, Section } from './kernel/scopes.ts'
import { memberScopes } from './kernel/scopes.ts'
import { readDefinition } from './kernel/trpc-internals.ts'

const endpoints = Object.values(procedures)
  .map((procedure) => readDefinition(procedure).meta)
  .filter(({ openapi }) => openapi)

/** The scopes that the endpoints at a section's host need. */
export function scopesAt(section: Section): Scope[] {
  const needed = new Set(endpoints.filter((row) => findSection(row) === section).map(({ scope }) => scope))
  return memberScopes.filter((scope) => needed.has(scope))
}
