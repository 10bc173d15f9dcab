import type { ApiError } from '../../routers/kernel/errors.ts'
import type { Language } from '../browser/language.ts'
import type { StepContext } from '../http/state.ts'
import type { Developer } from './client.ts'
import type { Words } from './pages/words-en.ts'

/** A request for a page of the portal by someone who is signed in. */
export interface Visit {
  ctx: StepContext
  developer: Developer
  person: { id: string; name: string }
  language: Language
  w: Words
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The address of a page: `at('teams', team)`. */
  at: (...segments: string[]) => string
  /** A form that was refused, the last segment of its address, and why: its page shows what was typed. */
  refused?: { action: string; message: string; form: URLSearchParams }
}

/** The page, as HTML. */
export type Show = (visit: Visit) => Promise<string>

/** Does what a posted form asks for, and returns the address of the page that shows it. */
export type Act = (visit: Visit, form: URLSearchParams) => Promise<string>

/** Does what a posted form with a file asks for; the form is read once the person is known to be of the team. */
export type Upload = (visit: Visit, read: (tooLarge: () => ApiError) => Promise<FormData>) => Promise<string>

/** Adds pages and forms; addresses are below the portal's. A form that is refused is shown again on `page`. */
export interface Routes {
  get: (address: string, page: Show) => void
  post: (address: string, page: Show, act: Act) => void
  upload: (address: string, page: Show, act: Upload) => void
}
