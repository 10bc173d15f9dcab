import { nameOf } from './host-name.ts'
import type { Step } from './state.ts'

/** RFC 6797. Browsers then use https for this host alone for a year, whatever a link says. */
const HEADER = ['Strict-Transport-Security', 'max-age=31536000']

/** Tells browsers to use https at the hosts of `urls` that do. */
export function strictTransport(urls: readonly string[]): Step {
  const secure = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:')
  const names = new Set(secure.map(({ host }) => nameOf(host)))
  return (ctx, next) => {
    if (names.size > 0 && names.has(nameOf(ctx.state.host))) ctx.state.headers.push(...HEADER)
    return next()
  }
}
