import { readFileSync } from 'node:fs'
import { colourRules } from '../look/colours.ts'
import { componentRules } from '../look/components/sheet.ts'
import { typefaceRules } from '../look/typefaces.ts'

/** The build copies the file. */
const pageRules = readFileSync(new URL('pages.css', import.meta.url), 'utf8')

/** Without typefaces and components, for pages that load nothing. */
export const plainSheet = colourRules + pageRules

export const styleSheet = typefaceRules + plainSheet + componentRules
