import type { ApiError } from '../../routers/kernel/errors.ts'
import type { PortalLanguage } from '../browser/language.ts'
import type { StepContext } from '../http/state.ts'
import type { Developer } from './client.ts'
import type { Form, RefusedForm } from './forms/form.ts'
import type { Words } from './pages/words-en.ts'

export interface PageRequest {
  ctx: StepContext
  developer: Developer
  /** With the first of their teams. */
  person: { id: string; name: string; email: string; teams: readonly { id: string; name: string }[] }
  language: PortalLanguage
  /** In Unix seconds. */
  now: number
  w: Words
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The page's own address, also where it shows a refused form, which was posted to one below it. */
  own: string
  /** A page's address: `at('teams', team)`. */
  at: (...segments: string[]) => string
  /** Its page shows something that ends soon: the script reads it again until then. */
  isPending?: boolean
  /** Its page shows what was typed. */
  refused?: RefusedForm
}

export type Render = (request: PageRequest) => Promise<string>

/** The address of the page that shows the result of a form; or a page that is shown once. */
export type Result = string | { page: string }

/** Executes a posted form. */
export type Submit<Fields> = (request: PageRequest, fields: Fields) => Promise<Result>

/** Executes a posted form with a file; the form is read once the person is known to be in the team. */
export type Upload<Fields> = (
  request: PageRequest,
  read: (tooLarge: () => ApiError) => Promise<Fields>,
) => Promise<string>

/**
 * Adds pages and forms; addresses are relative to the portal's, and a form's is its action below the given one. A refused form is
 * shown again on `page`.
 */
export interface Routes {
  get: (address: string, page: Render) => void
  post: <Fields extends object>(above: string, page: Render, form: Form<Fields>, submit: Submit<Fields>) => void
  upload: <Fields extends object>(above: string, page: Render, form: Form<Fields>, submit: Upload<Fields>) => void
}
