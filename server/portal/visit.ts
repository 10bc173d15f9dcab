import type { ApiError } from '../../routers/kernel/errors.ts'
import type { Language } from '../browser/language.ts'
import type { StepContext } from '../http/state.ts'
import type { Developer } from './client.ts'
import type { Problem } from './pages/refusals.ts'
import type { Words } from './pages/words-en.ts'

export interface Visit {
  ctx: StepContext
  developer: Developer
  person: { id: string; name: string }
  language: Language
  w: Words
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** A page's address: `at('teams', team)`. */
  at: (...segments: string[]) => string
  /** A refused form, the last segment of its address, and why: its page shows what was typed. */
  refused?: { action: string; problems: readonly Problem[]; form: URLSearchParams }
}

export type Show = (visit: Visit) => Promise<string>

/** The address of the page that shows the result of a form; or a page that is shown once. */
export type Result = string | { page: string }

/** Executes a posted form. */
export type Act = (visit: Visit, form: URLSearchParams) => Promise<Result>

/** Executes a posted form with a file; the form is read once the person is known to be in the team. */
export type Upload = (visit: Visit, read: (tooLarge: () => ApiError) => Promise<FormData>) => Promise<string>

/** Adds pages and forms; addresses are relative to the portal's. A refused form is shown again on `page`. */
export interface Routes {
  get: (address: string, page: Show) => void
  post: (address: string, page: Show, act: Act) => void
  upload: (address: string, page: Show, act: Upload) => void
}
