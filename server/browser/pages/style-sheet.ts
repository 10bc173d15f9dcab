import { readFileSync } from 'node:fs'

/** Of all pages, beside this file; the build copies it. */
export const styleSheet = readFileSync(new URL('pages.css', import.meta.url), 'utf8')
