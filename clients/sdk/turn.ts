import { page } from './page.ts'
import { need } from './platform.ts'

/** A live collection's work while somebody listens. */
export interface Following {
  isEnded: boolean
  end(): void
}

interface Turn {
  readonly signal: AbortSignal
  isWoken(): boolean
  rest(ms: number): Promise<void>
  end(): void
}

const EVENTS = ['online', 'offline', 'visibilitychange']

/**
 * One request and the pause after it. Both end when nobody follows, or when a browser goes online or offline, or its page becomes
 * visible, as the connection may be dead.
 */
export function beginTurn(following: Following): Turn {
  need('This', 'AbortController')
  const request = new AbortController()
  let isWoken = false
  let wakeRest = () => {}
  const end = () => {
    request.abort()
    wakeRest()
  }
  const wake = () => {
    if (page.document?.visibilityState === 'hidden') return
    isWoken = true
    end()
  }
  const ended = following.end
  following.end = () => {
    ended()
    end()
  }
  for (const event of EVENTS) page.addEventListener?.(event, wake)
  return {
    signal: request.signal,
    isWoken: () => isWoken,
    rest: (ms: number) =>
      new Promise<void>((resolve) => {
        if (isWoken || following.isEnded) return resolve()
        const timer = setTimeout(resolve, ms)
        wakeRest = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
    end() {
      following.end = ended
      for (const event of EVENTS) page.removeEventListener?.(event, wake)
    },
  }
}
