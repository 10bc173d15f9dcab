import type { ApiError, Status } from '../routers/errors.ts'
import type { Section } from '../routers/trpc.ts'
import { sections } from './sections.ts'

/** Caught at the gateway: the apps section shows these, too, in the common shape. */
const gateway: readonly Status[] = [401, 429, 503]

/** The body of an error: `{ detail }` for what the apps section raises itself, else `{ error }`. */
export function envelope(
  { status, publicCode, message, reason }: ApiError,
  section: Section | null,
  requestId: string,
) {
  if (section && sections[section].dialect === 'detail' && !gateway.includes(status)) return { detail: message }
  return { error: { code: publicCode, message, request_id: requestId, ...(reason && { reason }) } }
}
