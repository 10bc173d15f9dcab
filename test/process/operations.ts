import type { Section } from '../../routers/kernel/scopes.ts'
import type { Faulted } from './faulted.ts'
import type { Answer } from './service.ts'

interface Operation {
  section: Section
  method: string
  path: string
  body?: unknown
  input?: unknown
  /** Needs of the database no more than what is remembered of the caller. */
  remembered?: true
}

const entry = { collection: 'notes', key: 'entry' }
const answers = { q1: 'Green' }
const webhook = { url: 'https://example.org/hook', secret: 'secret' }

/** Every operation of both documents, by procedure, with a request that the demo data answers. */
export const operations: Record<string, Operation> = {
  root: { section: 'apps', method: 'GET', path: '', remembered: true },
  'me.profile': { section: 'apps', method: 'GET', path: '/me/profile' },
  'me.groups': { section: 'apps', method: 'GET', path: '/me/groups' },
  'me.events': { section: 'apps', method: 'GET', path: '/me/events', input: {} },
  'me.trainingplans': { section: 'apps', method: 'GET', path: '/me/trainingplans' },
  'me.competitions': { section: 'apps', method: 'GET', path: '/me/competitions' },
  'me.membercard': { section: 'apps', method: 'GET', path: '/me/membercard' },
  'storage.list': { section: 'apps', method: 'GET', path: '/storage/notes', input: { collection: 'notes' } },
  'storage.put': {
    section: 'apps',
    method: 'PUT',
    path: '/storage/notes/entry',
    body: { value: 1 },
    input: { ...entry, value: 1 },
  },
  'storage.get': { section: 'apps', method: 'GET', path: '/storage/notes/entry', input: entry },
  'storage.delete': { section: 'apps', method: 'DELETE', path: '/storage/notes/entry', input: entry },
  'quizzes.submit': {
    section: 'lms',
    method: 'POST',
    path: '/quizzes/choice-quiz/results',
    body: { answers },
    input: { quizId: 'choice-quiz', answers },
  },
  'webhook.put': {
    section: 'notify',
    method: 'PUT',
    path: '/apps/trainer-app/webhook',
    body: webhook,
    input: { id: 'trainer-app', ...webhook },
  },
  'webhook.get': { section: 'notify', method: 'GET', path: '/apps/trainer-app/webhook', input: { id: 'trainer-app' } },
  'webhook.delete': {
    section: 'notify',
    method: 'DELETE',
    path: '/apps/trainer-app/webhook',
    input: { id: 'trainer-app' },
  },
}

export const names = Object.keys(operations)

export function overRest(service: Faulted, name: string, member: string): Promise<Answer> {
  const { section, method, path, body } = operations[name]!
  return service.rest(section, member, method, path, body)
}

export function overTrpc(service: Faulted, name: string, member: string): Promise<Answer> {
  const { section, method, input } = operations[name]!
  return service.trpc(section, member, name, input, method !== 'GET')
}
