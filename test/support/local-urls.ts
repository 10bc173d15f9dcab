import type { HttpParts } from '../../server/http/app.ts'

/** The addresses of the APIs that a trial has at the paths of one origin. */
export function localUrlsAt(origin: string): NonNullable<HttpParts['localUrls']> {
  const at = (section: string) => `${origin}/${section}/v1`
  return { apps: at('apps'), lms: at('lms'), notify: at('notify'), sync: at('sync'), auth: at('auth') }
}
