import { need } from './platform.ts'

/** The reason of an aborted signal; polyfills have none. */
export const readReason = (signal: AbortSignal | undefined): unknown =>
  signal?.reason ?? Object.assign(new Error('The call was aborted.'), { name: 'AbortError' })

/** The result of `work`; rejects with the signal's reason as soon as it aborts. */
export function endedBy<Result>(signal: AbortSignal | undefined, work: Result | Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => reject(readReason(signal))
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
    const release = () => signal?.removeEventListener('abort', end)
    Promise.resolve(work).then(resolve, reject).then(release)
  })
}

interface Limit {
  readonly signal: AbortSignal
  /** Gives it `ms` from now on. */
  restart(ms: number): void
  /** Ends the timer, and what it listens to. */
  release(): void
}

/** Aborts after `ms`, or with `signal`; without `AbortSignal.timeout` and `AbortSignal.any`, which are from 2022 and 2023. */
export function abortAfter(ms: number, signal?: AbortSignal): Limit {
  need('This', 'AbortController')
  const own = new AbortController()
  let timer: ReturnType<typeof setTimeout>
  const restart = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      own.abort(Object.assign(new Error(`No answer within ${ms / 1000} s.`), { name: 'TimeoutError' }))
    }, ms)
  }
  restart(ms)
  const end = () => own.abort(readReason(signal))
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end)
  const release = () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
  return { signal: own.signal, restart, release }
}

/** Rejects with the signal's reason as soon as it aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(readReason(signal))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
