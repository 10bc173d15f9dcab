import { readFileSync } from 'node:fs'

/** The build copies the file. */
export const styleSheet = readFileSync(new URL('pages.css', import.meta.url), 'utf8')
