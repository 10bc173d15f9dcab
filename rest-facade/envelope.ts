import type { ApiError } from '../routers/kernel/errors.ts'
import type { Section } from '../routers/kernel/scopes.ts'
import { sections } from './sections.ts'

/** Errors caught at the gateway: the apps section shows these, too, in the common shape. */
const gateway = new Set([401, 429, 503])

/** Whether an error of this status has the body `{ detail }` rather than `{ error }`. */
export const usesDetail = (section: Section | null, status: number) =>
  section !== null && sections[section].errorShape === 'detail' && !gateway.has(status)

/** Where a program finds what an error means: its id, and its entry in the catalogue at the API of `base`. */
export const errorHeaders = (id: string, base = '/v1') =>
  id && { 'X-Error-Code': id, Link: `<${base}/docs/errors#${id}>; rel="help"` }

/** The body of an error; `section` is null where neither path nor host tells it. */
export function envelope(
  { status, publicCode, message, reason }: ApiError,
  section: Section | null,
  requestId: string,
) {
  if (usesDetail(section, status)) return { detail: message }
  return { error: { code: publicCode, message, request_id: requestId, ...(reason && { reason }) } }
}
