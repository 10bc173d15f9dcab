import { nameOf } from './host-name.ts'
import type { Step } from './state.ts'

/** RFC 6797. Browsers then use only https for this host for a year, whatever a link says. */
const HEADER = ['Strict-Transport-Security', 'max-age=31536000']

/** Only for hosts of `urls` that use https. */
export function strictTransport(urls: readonly string[]): Step {
  const secure = urls.map((url) => new URL(url)).filter(({ protocol }) => protocol === 'https:')
  const names = new Set(secure.map(({ host }) => nameOf(host)))
  return (ctx, next) => {
    if (names.size > 0 && names.has(nameOf(ctx.state.host))) ctx.state.headers.push(...HEADER)
    return next()
  }
}
