import type { ApiError } from '../../routers/kernel/errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { readBytes } from '../http/body-bytes.ts'
import type { StepContext } from '../http/state.ts'

type Reserve = (bytes: number) => Promise<void>

interface Bound {
  bytes: number
  /** For more than 16 KiB. */
  reserve: Reserve
}

/** For forms that anybody can send. */
const SMALL_FORM: Bound = { bytes: 8 * 1024, reserve: async () => {} }
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** More than a page has: a field takes memory, however short it is. */
const MAX_FIELDS = 2_000

/** Throws 415 for another content type, 400 above the bound, by default 8 KiB. */
export async function readForm(ctx: StepContext, { bytes, reserve } = SMALL_FORM): Promise<URLSearchParams> {
  if (!FORM_TYPE.test(ctx.get('content-type'))) throw errors.typeWrong()
  const tooLarge = () => errors.inputInvalid(400, `The form is larger than ${bytes / 1024} KiB.`)
  const text = (await readBytes(ctx.req, bytes, tooLarge, reserve)).toString('utf8')
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) throw errors.requestInvalid()
  return new URLSearchParams(text)
}

const UPLOAD_BYTES = 160 * 1024
const UPLOAD_TYPE = /^multipart\/form-data\s*;/i

export const isUpload = (ctx: StepContext) => UPLOAD_TYPE.test(ctx.get('content-type'))

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
