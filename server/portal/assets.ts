import { readFileSync } from 'node:fs'
import { componentScript, denseRules } from '../browser/look/components/sheet.ts'

/** The build copies the files. */
const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')

export const styleSheet = denseRules + read('portal.css') + read('shell.css')
export const script = componentScript + read('script.js')
