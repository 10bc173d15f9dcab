import { createHash } from 'node:crypto'
import { z } from 'zod'

export const etag = z.string().meta({ description: 'Differs once its address, secret or event types do' })
export const seenEtag = etag.optional().meta({ description: 'As it was read; another one is 409' })

/** From all that a form changes: the ciphertext of a secret differs each time it is set. */
export const makeEtag = (...stored: readonly (string | readonly string[] | null)[]) =>
  createHash('sha256').update(JSON.stringify(stored)).digest('base64url')
