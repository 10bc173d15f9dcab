import type { Content, PathOperation } from './api-document.ts'
import { findExample } from './schema-text.ts'

export const findJson = (content: Content = {}) => content['application/json']
export const formatJson = (value: unknown) => JSON.stringify(value, null, 2)

/** The example of the body as indented JSON; undefined without a body. */
export function readBody({ requestBody }: PathOperation): string | undefined {
  const content = findJson(requestBody?.content)
  return content && formatJson(findExample(content) ?? {})
}

/** The example of each answer that is no error and has one, by status. */
export const readExamples = ({ responses }: PathOperation): [status: string, value: unknown][] =>
  Object.entries(responses).flatMap(([status, { content }]): [string, unknown][] => {
    const value = status < '400' && content ? findExample(findJson(content) ?? {}) : undefined
    return value === undefined ? [] : [[status, value]]
  })
