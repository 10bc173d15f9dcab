import { page } from './page.ts'
import { lack, need } from './platform.ts'

/** A sign-in that this tab has begun. */
export interface Begun {
  issuer: string
  clientId: string
  name: string
  redirectUri: string
  state: string
  verifier: string
  /** The page's address then. */
  from: string
}

/** One list for all clients, so that each knows the others' answers. */
const NAME = 'member-apps sign-ins'
/** More than the sign-ins whose pages a member may return to and finish. */
const MAX = 10

/** In `sessionStorage`: for this tab only, as is the answer. */
function list(): Begun[] {
  need('Sign-in', 'sessionStorage')
  try {
    const held = JSON.parse(page.sessionStorage.getItem(NAME) ?? '[]')
    return Array.isArray(held) ? held : []
  } catch {
    return []
  }
}

export const begunWith = (state: string) => list().find((begun) => begun.state === state)

/** Several may be open at once: each answer is matched with its own. Throws `PlatformLacks` where nothing can be stored. */
export function begin(begun: Begun): void {
  store([...list(), begun].slice(-MAX))
  if (!begunWith(begun.state)) throw lack('Sign-in', 'sessionStorage')
}

export const end = (state: string) => store(list().filter((begun) => begun.state !== state))

function store(all: Begun[]) {
  try {
    page.sessionStorage.setItem(NAME, JSON.stringify(all))
  } catch {
    // Full, or not allowed: `begin` finds out.
  }
}
