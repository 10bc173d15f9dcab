import { errors } from '../errors.ts'

/** One writes, and the next is at the database's door already. */
const AT_ONCE = 2

/** Too long a wait is a 503. */
const WAIT_MS = 10_000

interface Turn {
  writing: number
  waiting: (() => void)[]
}

/** By app and club; only while someone writes. */
const turns = new Map<string, Turn>()

/**
 * Writers of one app in a club wait for one another, as the database locks their usage row; here most of them do so
 * without a connection each, which those of other apps and clubs need.
 */
export async function withStoreLock<T>(
  { app, club }: { app: string; club: string },
  write: () => Promise<T>,
): Promise<T> {
  const store = `${app}\0${club}`
  const turn = turns.get(store) ?? { writing: 0, waiting: [] }
  turns.set(store, turn)
  if (turn.writing < AT_ONCE) turn.writing++
  else await itsTurn(turn)
  try {
    return await write()
  } finally {
    const next = turn.waiting.shift()
    if (next) next()
    else if (--turn.writing === 0) turns.delete(store)
  }
}

const itsTurn = ({ waiting }: Turn) =>
  new Promise<void>((resolve, reject) => {
    const begin = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(begin), 1)
      reject(errors.unavailable())
    }, WAIT_MS)
    waiting.push(begin)
  })
