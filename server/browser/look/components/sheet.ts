import { readFileSync } from 'node:fs'

/** The build copies the files. */
const [componentRules, denseRules, componentScript] = ['components.css', 'dense.css', 'components.js'].map((name) =>
  readFileSync(new URL(name, import.meta.url), 'utf8'),
) as [string, string, string]

/** `denseRules` make the controls of pages that people work with smaller than those of a page with one question. */
export { componentRules, componentScript, denseRules }
