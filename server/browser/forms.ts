import type { ApiError } from '../../routers/kernel/errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { readBytes, readSmall } from '../http/body-bytes.ts'
import type { StepContext } from '../http/state.ts'

const FORM_BYTES = 8 * 1024
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** Throws 415 for another content type, 400 above 8 KiB. */
export async function readForm(ctx: StepContext): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(ctx.get('content-type'))) throw errors.typeWrong()
  return new URLSearchParams((await readSmall(ctx.req, FORM_BYTES, errors.bodyTooLarge)).toString('utf8'))
}

const UPLOAD_BYTES = 160 * 1024
const UPLOAD_TYPE = /^multipart\/form-data\s*;/i

export const isUpload = (ctx: StepContext) => UPLOAD_TYPE.test(ctx.get('content-type'))

type Reserve = (bytes: number) => Promise<void>

/** Throws `tooLarge()` above 160 KiB, and 400 for a malformed form. */
export async function readUpload(ctx: StepContext, tooLarge: () => ApiError, reserve: Reserve): Promise<FormData> {
  const bytes = await readBytes(ctx.req, UPLOAD_BYTES, tooLarge, reserve)
  // The first call loads Node's fetch and its parser, which takes 70 ms for 2,500 parts, as many as fit into the limit.
  const body = new Response(new Uint8Array(bytes), { headers: { 'content-type': ctx.get('content-type') } })
  return body.formData().catch(() => {
    throw errors.requestInvalid()
  })
}

/**
 * Whether a form was posted from a page of this service. SameSite keeps its cookies out of forms on other sites, but not on other
 * hosts of the same site. Browsers send Sec-Fetch-Site, Origin, or both.
 */
export function isFromOwnPage(ctx: StepContext, origin: string): boolean {
  const site = ctx.get('sec-fetch-site')
  return site === '' ? ctx.get('origin') === origin : site === 'same-origin'
}
