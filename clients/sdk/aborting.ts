import { need } from './platform.ts'

/** The reason of an aborted signal; polyfills have none. */
export const reasonOf = (signal: AbortSignal | undefined): unknown =>
  signal?.reason ?? Object.assign(new Error('The call was aborted.'), { name: 'AbortError' })

/** Aborts when `parent` does, or after `ms`; without `AbortSignal.any` and `AbortSignal.timeout`, which are from 2023. */
export function abortAfter(ms: number, parent?: AbortSignal) {
  need('This', 'AbortController')
  const own = new AbortController()
  const end = () => own.abort(reasonOf(parent))
  const timer = setTimeout(() => {
    own.abort(Object.assign(new Error(`No answer within ${ms / 1000} s.`), { name: 'TimeoutError' }))
  }, ms)
  if (parent?.aborted) end()
  else parent?.addEventListener('abort', end)
  return {
    signal: own.signal,
    abort: () => own.abort(),
    /** Releases timer and parent. */
    release() {
      clearTimeout(timer)
      parent?.removeEventListener('abort', end)
    },
  }
}
