import type { Change } from '../storage/changes.ts'

/** The JSON of a change, in pieces, as values are neither parsed nor copied; keys and versions need no escapes. */
export function changeText({ key, value, updatedAt, version }: Change): string[] {
  const head = `{"key":"${key}","updatedAt":${updatedAt}`
  return value === null ? [`${head},"deleted":true}`] : [`${head},"value":`, value, `,"etag":"\\"${version}\\""}`]
}
