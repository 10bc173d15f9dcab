import { errorCatalogue } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { Docs } from '../docs/docs.ts'
import { toPageAddress } from '../docs/docs.ts'
import type { ApiDocument, PathOperation } from '../reference/api-document.ts'
import { listOperations, listScopes } from '../reference/api-document.ts'
import { findJson } from '../reference/examples.ts'
import { listFields } from '../reference/schema-text.ts'
import { stem } from './words.ts'

/** A place that the search leads to. */
export interface Entry {
  /** The page, or the API. */
  title: string
  heading: string
  text: string
  /** Below the base address of the API; of a page of the documentation from the root of the host. */
  address: string
  api?: Section
  /** Raises what is read first over what is looked up; the word is one that matches. */
  weigh: (word: string) => number
}

/** The first group of pages is for those who write apps, the last one for those who compare. */
const [FIRST, MIDDLE, LAST] = [1.5, 1, 0.6]
const [OPERATION, ERROR] = [0.9, 0.3]
/** When the question has its name. */
const NAMED = 2

/** News and terms repeat what other pages explain. */
const REPEATED = ['changelog', 'glossary']

export function guideEntries({ groups, pages, sections }: Docs): Entry[] {
  const titles = new Map(pages.map(({ slug, title }) => [slug, title]))
  const weigh = (slug: string) => {
    if (REPEATED.includes(slug)) return LAST
    const group = groups.findIndex(({ slugs }) => slugs.includes(slug))
    return group === 0 ? FIRST : group === groups.length - 1 ? LAST : MIDDLE
  }
  const weights = new Map(pages.map(({ slug }) => [slug, weigh(slug)]))
  return sections.map(({ slug, id, heading, text }) => ({
    title: titles.get(slug)!,
    heading,
    text,
    address: toPageAddress(slug) + (id && `#${id}`),
    weigh: () => weights.get(slug)!,
  }))
}

export const operationEntries = (api: Section, document: ApiDocument): Entry[] =>
  listOperations(document).map((operation) => ({
    title: `API ${api}`,
    heading: `${operation.method} ${operation.path} · ${operation.summary ?? operation.operationId}`,
    text: [
      operation.description,
      ...listScopes(operation),
      ...describeFields(operation),
      splitName(operation.operationId),
    ]
      .filter(Boolean)
      .join(' '),
    address: `/docs#${operation.operationId}`,
    api,
    weigh: () => OPERATION,
  }))

/** `storage.list` of `storageList`, as the SDK and tRPC have it. */
const splitName = (id: string) => id.replace(/([a-z])([A-Z])/g, (_, end, start) => `${end}.${start.toLowerCase()}`)

/** Parameters and fields, each once. */
function describeFields({ parameters = [], requestBody, responses }: PathOperation): string[] {
  const good = Object.entries(responses).flatMap(([status, response]) => (status < '400' ? response : []))
  const fields = [requestBody, ...good].flatMap((body) => {
    const schema = findJson(body?.content)?.schema
    return schema ? listFields(schema) : []
  })
  const named = parameters.map(({ name, description, schema }) => [name, description ?? schema?.description])
  const texts = [...named, ...fields.map(({ name, meaning }) => [name, meaning])].map(
    ([name, meaning]) => `${name}${meaning ? `: ${meaning}` : ''}`,
  )
  return [...new Set(texts)]
}

/** Each error at an API that sends it, and each status with the messages of its errors. */
export function errorEntries(): Entry[] {
  const catalogue = errorCatalogue()
  const own = catalogue.map(({ id, error, place, cause, fix }) => ({
    title: 'Errors',
    heading: `${error.status} ${id}`,
    text: `${error.message} ${cause} ${fix} ${error.publicCode}`,
    address: `/docs/errors#${id}`,
    api: findApi(place),
    weigh: weighName(id),
  }))
  const byStatus = new Map(catalogue.map(({ error }) => [error.status, error.publicCode]))
  const statuses = [...byStatus].map(([status, code]) => ({
    title: 'Errors',
    heading: `${status} ${code}`,
    text: catalogue
      .filter(({ error }) => error.status === status)
      .map(({ error }) => error.message)
      .join(' '),
    address: `/docs/errors#status-${status}`,
    api: 'apps' as const,
    weigh: weighName(String(status)),
  }))
  return [...statuses, ...own]
}

const weighName = (name: string) => {
  const named = stem(name.toLowerCase())
  return (word: string) => (word === named ? NAMED : ERROR)
}

const findApi = (place: string): Section =>
  sectionNames.find((name) => place.split(/, | and /).includes(name)) ?? 'apps'
