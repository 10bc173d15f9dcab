import { MAX_PURPOSE } from '../../../routers/developer/shared/purposes.ts'
import { MAX_NAME, MAX_REDIRECT_URI } from '../../../routers/developer/shared/registration.ts'
import { MAX_LISTED } from '../../../routers/developer/shared/schemas.ts'
import { identityScopes } from '../../../routers/kernel/identity-scopes.ts'
import { memberScopes } from '../../../routers/kernel/scopes.ts'

/** Bytes of an escaped character: each byte of its UTF-8 is `%` and two digits. A line break has two of them. */
const [ASCII, CHARACTER, LINE_BREAK] = [3, 12, 6]

/** Names of fields, and values of a few characters. */
const OTHERS = 16 * 1024

const uris = MAX_LISTED * (MAX_REDIRECT_URI * ASCII + LINE_BREAK)
const purposes = (memberScopes.length + identityScopes.length) * MAX_PURPOSE * CHARACTER

/** Any texts within the limits of a request for production fit, and those of a client's sign-in, which has two lists of URIs. */
const largest = uris + Math.max(purposes, uris) + MAX_NAME * CHARACTER + OTHERS

/** The bound of the portal's forms, in whole KiB. */
export const MAX_FORM_BYTES = Math.ceil(largest / 1024) * 1024
