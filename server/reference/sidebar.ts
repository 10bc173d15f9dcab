import { errorCatalogue } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { Group } from '../browser/docs-layout/docs-layout.ts'
import { link, side } from '../browser/docs-layout/docs-layout.ts'
import type { Html } from '../browser/pages/html.ts'
import { html } from '../browser/pages/html.ts'
import type { BaseUrls } from '../http/match-route.ts'
import type { ApiDocument, PathOperation } from './api-document.ts'
import { listErrorSchemas, listOperations, readTag } from './api-document.ts'
import { findCommon } from './every-operation.ts'
import { breakable, verb } from './path.ts'

interface Given {
  api: ApiDocument
  section: Section
  urls: BaseUrls
  page: 'operations' | 'errors'
}

/** Everything of an API: operations by tag, schemas and errors; and the ways to the other APIs. */
export function sidebar({ api, section, urls, page }: Given): Html {
  const [operationsPage, errorsPage, root] =
    page === 'operations' ? ['', 'docs/errors', ''] : ['../docs', 'errors', '../']
  const operations = listOperations(api)
  const tags = [...new Set(operations.map(readTag))]
  const toOperation = ({ operationId, method, path }: PathOperation) =>
    link(`${operationsPage}#${operationId}`, html`${verb(method)} <span>${breakable(path)}</span>`)
  const statuses = [...new Set(errorCatalogue().map(({ error }) => error.status))]
  const groups: Group[] = [
    {
      title: 'API',
      isShort: true,
      items: sectionNames.map((name) => link(`${urls[name]}/docs`, name, name === section && page === 'operations')),
    },
    ...tags.map((tag) => ({ title: tag, items: operations.filter((one) => readTag(one) === tag).map(toOperation) })),
    {
      title: 'Common',
      items: [
        findCommon(operations).isAny && link(`${operationsPage}#common`, 'Every operation'),
        ...listErrorSchemas(api).map(([name]) => link(`${operationsPage}#schema-${name}`, html`<code>${name}</code>`)),
      ].filter((item) => item !== false),
    },
    {
      title: 'Errors',
      isShort: true,
      items: [
        link(errorsPage, 'All', page === 'errors'),
        ...statuses.map((status) => link(`${page === 'errors' ? '' : errorsPage}#status-${status}`, String(status))),
      ],
    },
  ]
  return side({
    label: 'Reference',
    summary: 'Contents',
    groups: [
      ...groups,
      { title: 'On this service', items: [link('/docs', 'Documentation'), link(`${root}openapi.json`, 'OpenAPI')] },
    ],
  })
}
